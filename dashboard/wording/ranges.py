"""Queue ids as ranges, such as `0-5,9`: the short form of lists of queues."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from rmqcore.errors import ArgumentError

ID_LIMIT: Final = 100_000
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)


def spans(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of consecutive ids."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(ids)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def to_ranges(ids: Iterable[int]) -> str:
    """Write non-negative ids as ranges."""
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in spans(ids)
    )


def from_ranges(text: str) -> list[int]:
    """Read ids from ranges; raise ArgumentError for anything else."""
    ids: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ArgumentError(f"queue ids must be like 0-5,9, got {text!r}")
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not first <= last <= ID_LIMIT:
            raise ArgumentError(
                f"queue ids {part!r} must rise and be at most {ID_LIMIT:,}"
            )
        ids.extend(range(first, last + 1))
        if len(ids) > ID_LIMIT:
            raise ArgumentError(f"queue ids {text!r} are more than {ID_LIMIT:,}")
    return ids
