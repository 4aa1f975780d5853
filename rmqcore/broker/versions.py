"""The next version of a table when the table changes."""

from __future__ import annotations

from rmqcore.protocol.bodies import DataVersion


def advanced(version: DataVersion, now_ms: int) -> DataVersion:
    """Return the version after one more change, made at `now_ms`."""
    return DataVersion(version.counter + 1, version.state_version, now_ms)
