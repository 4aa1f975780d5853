"""The settings of one cluster."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """One cluster of `ROCKETSCOPE_CLUSTERS`; keys are only in the environment.

    `name_servers` holds `host:port` strings. The cluster called `embedded` is the one
    that RocketScope itself provides.
    """

    name: str
    name_servers: tuple[str, ...]
    access_key: str = ""
    secret_key: str = ""
    tls: bool = False

    @property
    def embedded(self) -> bool:
        return self.name == "embedded"
