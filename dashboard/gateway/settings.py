"""The settings of one cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from rmqcore.transport import ClientTls

__all__ = ["EMBEDDED", "ClientTls", "ClusterSettings", "Encryption"]

EMBEDDED: Final = "embedded"
"""The name of the cluster that RocketScope itself provides; no other may have it."""

Encryption = Literal["off", "verified", "unverified"]


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster of the settings; keys are only in the environment.

    `name_servers` holds `host:port` strings. `embedded` says that RocketScope provides
    the cluster, so that labs may be played on it. Without `tls` connections are plain.
    Without `writes` RocketScope does not write to the cluster, unless it is the
    embedded one.
    """

    name: str
    name_servers: tuple[str, ...]
    access_key: str = ""
    secret_key: str = ""
    tls: ClientTls | None = None
    embedded: bool = False
    writes: bool = False

    @property
    def encryption(self) -> Encryption:
        """Whether connections are encrypted, and whether the other end is verified."""
        if self.tls is None:
            return "off"
        return "verified" if self.tls.verify else "unverified"

    @property
    def read_only(self) -> bool:
        return not (self.writes or self.embedded)

    @property
    def writes_key(self) -> str:
        """The setting that lets RocketScope write to the cluster."""
        return f"{setting_prefix(self.name)}_WRITES"


def setting_prefix(name: str) -> str:
    """Return what the settings of one cluster begin with."""
    return "ROCKETSCOPE_CLUSTER_" + re.sub(r"[^A-Z0-9]", "_", name.upper())
