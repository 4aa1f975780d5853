"""Rates and progress of a group, from the offsets of consecutive samples.

A rate is the difference of two offsets over the difference of the times at which they
were sampled, never over the intended period. Members commit every 5 s, so two samples a
second apart show nothing or everything; rates are taken over a window. A queue that was
unknown, absent or reset in either sample has no rate.

A sample less than two seconds after the previous one gives way to the next, so that a
group that is watched each second keeps few. Cost: columns are shared with the
snapshots; sums of a group are taken in bulk, rows only on demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from operator import sub
from typing import Final

from rmqcore.model.columns import Column
from rmqcore.model.snapshot import QueueTable

WINDOW_MS: Final = 30_000
APART_MS: Final = 2_000
SHORTEST_MS: Final = 900
"""Below this a difference says more about the sampling than about the rate."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A group's offsets at one time, by our clock."""

    at_ms: int
    table: QueueTable


@dataclass(frozen=True, slots=True)
class Rates:
    """Messages per second; None where unknown. Rows follow the newest table."""

    rate_in: float | None
    rate_out: float | None
    rows_in: tuple[float | None, ...]
    rows_out: tuple[float | None, ...]


class History:
    """The samples of one group within the window."""

    __slots__ = ("_samples",)

    def __init__(self, earlier: Iterable[Sample] = ()) -> None:
        """Begin with the samples that another collector took, oldest first."""
        # A list: a deque takes 760 bytes, however few samples it holds.
        self._samples: list[Sample] = list(earlier)

    def add(self, at_ms: int, table: QueueTable) -> None:
        """Take the newest sample; `at_ms` never goes back."""
        if len(self._samples) > 1 and self._spacing() < APART_MS:
            self._samples.pop()
        self._samples.append(Sample(at_ms, table))
        while at_ms - self._samples[0].at_ms > WINDOW_MS and len(self._samples) > 2:
            del self._samples[0]

    @property
    def rests(self) -> bool:
        """Whether nothing moved within the window, and all of it is known."""
        first, last = self._samples[0], self._samples[-1]
        return last.at_ms - first.at_ms >= SHORTEST_MS and all(
            each.table.max is last.table.max
            and each.table.committed is last.table.committed
            and each.table.keys is last.table.keys
            for each in self._samples
        )

    def rates(self) -> Rates:
        """Return the rates between the oldest comparable sample and the newest."""
        if not self._samples:
            return Rates(None, None, (), ())
        newest = self._samples[-1]
        rows = len(newest.table)
        oldest = self._comparable()
        if oldest is None:
            return Rates(None, None, (None,) * rows, (None,) * rows)
        seconds = (newest.at_ms - oldest.at_ms) / 1000
        rows_in = _row_rates(oldest.table.max, newest.table.max, seconds)
        rows_out = _row_rates(oldest.table.committed, newest.table.committed, seconds)
        return Rates(_total(rows_in), _total(rows_out), rows_in, rows_out)

    def _spacing(self) -> int:
        return self._samples[-1].at_ms - self._samples[-2].at_ms

    def _comparable(self) -> Sample | None:
        newest = self._samples[-1]
        for sample in self._samples:
            if newest.at_ms - sample.at_ms < SHORTEST_MS:
                return None
            if sample.table.keys == newest.table.keys:
                return sample
        return None


def _row_rates(
    before: Column, after: Column, seconds: float
) -> tuple[float | None, ...]:
    if before.complete and after.complete:
        if before is after:
            return _standing_still(len(after))
        came = list(map(sub, after.values, before.values))
        if came and min(came) >= 0:
            return tuple([each / seconds for each in came])
    return tuple(
        None if old is None or new is None or new < old else (new - old) / seconds
        for old, new in zip(before, after, strict=True)
    )


@lru_cache(maxsize=1024)
def _standing_still(rows: int) -> tuple[float, ...]:
    return (0.0,) * rows


def _total(rows: tuple[float | None, ...]) -> float | None:
    known = [rate for rate in rows if rate is not None]
    return sum(known) if known else None
