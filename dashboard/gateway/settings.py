"""The settings of one cluster."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

EMBEDDED: Final = "embedded"
"""The name of the cluster that RocketScope itself provides."""


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster of `ROCKETSCOPE_CLUSTERS`; keys are only in the environment.

    `name_servers` holds `host:port` strings. Without `writes` nothing of ours writes to
    the cluster, except to the embedded one.
    """

    name: str
    name_servers: tuple[str, ...]
    access_key: str = ""
    secret_key: str = ""
    tls: bool = False
    writes: bool = False

    @property
    def embedded(self) -> bool:
        return self.name == EMBEDDED

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
