"""Sampled memory of every process of the stack, and whether it stays level."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.usage import family, process_name

MB: Final = 1024 * 1024
LEVEL_SHARE: Final = 0.05
LEVEL_BYTES: Final = 8 * MB
"""Growth below either of the two does not count, as allocators fluctuate."""


@dataclass(frozen=True, slots=True)
class Look:
    """The bytes of each process at a moment, by its name; pages shared count in parts.

    A process with several of one name counts as their sum.
    """

    at_s: float
    bytes: dict[str, int]
    pids: dict[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Course:
    """How much one process had: first, last, most, and the least of two quarters.

    The least is what it keeps; what a job takes while it runs comes on top of it.
    """

    name: str
    first: int
    last: int
    most: int
    third_quarter: int
    last_quarter: int
    is_steady: bool = True
    """Whether the same processes were there at every look of the second half."""

    @property
    def growth(self) -> int:
        """Bytes that it keeps in the last quarter beyond those in the one before."""
        return self.last_quarter - self.third_quarter

    @property
    def is_level(self) -> bool:
        """Whether the second half does not grow."""
        return self.growth <= max(LEVEL_BYTES, LEVEL_SHARE * self.third_quarter)


def look(pid: int, at_s: float) -> Look:
    """Look at a process and all its descendants."""
    found: dict[str, int] = defaultdict(int)
    pids: dict[str, frozenset[int]] = defaultdict(frozenset)
    for each in family(pid):
        with suppress(OSError):
            size = proportional_bytes(each)
            if size:  # else it has ended, and nobody has waited for it yet
                name = process_name(each)
                found[name] += size
                pids[name] |= {each}
    return Look(at_s, dict(found), dict(pids))


def proportional_bytes(pid: int) -> int:
    """Return a process's memory, a page shared by n of them counted as 1/n (PSS)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def courses(looks: Iterable[Look]) -> list[Course]:
    """Return the course of every process that was there in the second half."""
    taken = list(looks)
    return list(_courses(taken)) if taken else []


def _courses(looks: list[Look]) -> Iterator[Course]:
    begin, end = looks[0].at_s, looks[-1].at_s
    half, quarter = (begin + end) / 2, (begin + 3 * end) / 4
    second_half = [each for each in looks if each.at_s >= half]
    for name in sorted({name for each in looks for name in each.bytes}):
        points = [(each.at_s, each.bytes[name]) for each in looks if name in each.bytes]
        third = [size for at, size in points if half <= at < quarter]
        last = [size for at, size in points if at >= quarter]
        if third and last:
            sizes = [size for _, size in points]
            yield Course(
                name,
                *(sizes[0], sizes[-1], max(sizes)),
                *(min(third), min(last)),
                is_steady=len({each.pids.get(name) for each in second_half}) == 1,
            )
