"""The consumer groups of one broker: their settings, not their members.

No IO and no clock: times are arguments in ms, and `changed` tells the owner to write
the table to disk.
"""

from __future__ import annotations

from collections.abc import Mapping

from rmqcore.model import SubscriptionGroupConfig
from rmqcore.model.topic import SYSTEM_GROUP_PREFIX
from rmqcore.protocol.bodies import DataVersion

from .names import SYSTEM_GROUPS, group_fault
from .versions import advanced


class SubscriptionGroupTable:
    """Group settings by name, with the version of the whole table."""

    def __init__(self, *, auto_create: bool, now_ms: int) -> None:
        self._groups = {name: SubscriptionGroupConfig(name) for name in SYSTEM_GROUPS}
        self.auto_create = auto_create
        self.version = DataVersion(timestamp=now_ms)
        self.changed = False

    def __contains__(self, group: object) -> bool:
        return group in self._groups

    def get(self, group: str) -> SubscriptionGroupConfig | None:
        """Return a group's settings, None when it does not exist; never creates it."""
        return self._groups.get(group)

    @property
    def all(self) -> Mapping[str, SubscriptionGroupConfig]:
        """Every group by name."""
        return self._groups

    def find(self, group: str, now_ms: int) -> SubscriptionGroupConfig | None:
        """Return a group's settings, creating it where that is allowed.

        Return None when it does not exist and creating is off, or the name is not
        allowed.
        """
        config = self._groups.get(group)
        if config is not None:
            return config
        if not (self.auto_create or group.startswith(SYSTEM_GROUP_PREFIX)):
            return None
        if group_fault(group) is not None:
            return None
        config = SubscriptionGroupConfig(group)
        self.put(config, now_ms)
        return config

    def restore(
        self, groups: Mapping[str, SubscriptionGroupConfig], version: DataVersion
    ) -> None:
        """Load what an earlier run of this broker wrote to disk."""
        self._groups |= groups
        self.version = version

    def put(self, config: SubscriptionGroupConfig, now_ms: int) -> None:
        """Create or replace a group."""
        self._groups[config.group] = config
        self._touch(now_ms)

    def delete(self, group: str, now_ms: int) -> bool:
        """Remove a group; false when it was not there."""
        if self._groups.pop(group, None) is None:
            return False
        self._touch(now_ms)
        return True

    def _touch(self, now_ms: int) -> None:
        self.version = advanced(self.version, now_ms)
        self.changed = True
