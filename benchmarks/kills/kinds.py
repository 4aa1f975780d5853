"""Which processes are killed, in which order, and how they are found."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Final

from benchmarks.usage import began, family, process_name

KINDS: Final[dict[str, tuple[str, ...]]] = {
    "web": ("web",),
    "collector": ("collector",),
    "fleet": ("fleet-1", "fleet-2"),
    "beat": ("beat",),
    "analytics": ("analytics",),
    "valkey": ("state",),
    "broker": ("embedded-cluster",),
    "postgresql": (),
    "spark": ("analytics-child", "spark-java"),
    "files": ("files",),
}
"""The processes of each kind, by name; PostgreSQL is no process of the stack."""

WARM: Final = frozenset({"spark", "files"})
"""Those that exist only once a report, or a file of one, was asked for."""


@dataclass(frozen=True, slots=True)
class Victim:
    """A process that was killed, and the descendants that it had."""

    name: str
    pid: int
    family: tuple[tuple[int, str], ...] = ()

    def left_over(self, living: Sequence[int]) -> list[int]:
        """Return the descendants that outlive it; `living` are of the stack again.

        A zombie from before the kill has no start time and is not counted.
        """
        return [
            pid
            for pid, since in self.family
            if since and pid not in living and began(pid) == since
        ]


def order_of(kills: int, kinds: Sequence[str], chance: Random) -> list[str]:
    """Return the kinds in the order in which to kill: each has its share."""
    order = [kinds[number % len(kinds)] for number in range(kills)]
    chance.shuffle(order)
    return order


def pids_of(supervisor: int, names: Sequence[str]) -> dict[int, str]:
    """Return the processes below a supervisor that have one of the names."""
    return {pid: name for pid, name in _named(supervisor) if name in names}


def strike(supervisor: int, kind: str, chance: Random) -> Victim:
    """SIGKILL one process of a kind; raises LookupError where there is none."""
    found = pids_of(supervisor, KINDS[kind])
    if not found:
        raise LookupError(f"no process of kind {kind} runs")
    pid = chance.choice(sorted(found))
    below = tuple((each, began(each)) for each in family(pid)[1:])
    os.kill(pid, signal.SIGKILL)
    return Victim(found[pid], pid, below)


def _named(supervisor: int) -> Iterator[tuple[int, str]]:
    for pid in family(supervisor)[1:]:
        with suppress(OSError):
            yield pid, process_name(pid)
