"""The settings of one cluster."""

from __future__ import annotations

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
    """

    name: str
    name_servers: tuple[str, ...]
    access_key: str = ""
    secret_key: str = ""
    tls: ClientTls | None = None
    embedded: bool = False

    @property
    def encryption(self) -> Encryption:
        """Whether connections are encrypted, and whether to the one expected."""
        if self.tls is None:
            return "off"
        return "verified" if self.tls.verify else "unverified"
