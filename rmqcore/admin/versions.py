"""Names for the version numbers that peers send, positions in RocketMQ's version enum.

From 4.0.0 on the enum has two entries per patch release (a snapshot and the release),
ten patches per minor and ten minors per major, so the name follows from the number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_V4_0_0: Final = 213
_BEYOND: Final = 612
"""The enum's last entry, HIGHER_VERSION; everything above is shown as that."""


@lru_cache(maxsize=1024)
def version_name(ordinal: int) -> str:
    """Return RocketMQ's name for a version, such as `V5_5_0` for 513."""
    if ordinal >= _BEYOND:
        return "HIGHER_VERSION"
    if ordinal < _V4_0_0 - 1:
        return f"V3 ({ordinal})"
    is_snapshot = ordinal % 2 == 0
    place = ordinal + is_snapshot - _V4_0_0
    major, minor, patch = 4 + place // 200, place % 200 // 20, place % 20 // 2
    return f"V{major}_{minor}_{patch}" + ("_SNAPSHOT" if is_snapshot else "")
