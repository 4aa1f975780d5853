"""How far each delay level has been delivered."""

from __future__ import annotations

from collections.abc import Mapping

from rmqcore.protocol.bodies import DataVersion

from .versions import advanced


class DelayOffsets:
    """Next queue offset of the schedule topic by level (1 to 18), kept on disk."""

    def __init__(self) -> None:
        self._offsets: dict[int, int] = {}
        self.version = DataVersion()
        self.changed = False

    @property
    def all(self) -> Mapping[int, int]:
        """The offset of every level that has delivered something."""
        return self._offsets

    def get(self, level: int) -> int:
        """Return the offset of the next message to deliver."""
        return self._offsets.get(level, 0)

    def put(self, level: int, offset: int, now_ms: int) -> None:
        """Note that everything before `offset` was delivered."""
        self._offsets[level] = offset
        self.version = advanced(self.version, now_ms)
        self.changed = True

    def restore(self, offsets: Mapping[int, int]) -> None:
        """Load what an earlier run of this broker wrote to disk."""
        self._offsets |= offsets
