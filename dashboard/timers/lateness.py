"""A strip that shows how late each slot of a timer was run: one mark per slot.

Pure: it takes runs, and returns positions in per cent. The height of a mark is the
lateness on a logarithmic scale from 0 to 10 s, because a good run is some 10 ms late,
and one that a worker made up by itself is some seconds late. A slot that should have
been run by now and has no row is marked as missing, unless its row may still be on its
way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final, Literal

Mark = Literal["on_time", "late", "partly", "failed", "skipped", "missing"]

TALLEST_MS: Final = 10_000
_UNIT_MS: Final = 10
MOST_LATE_S: Final = 5.0
WRITTEN_WITHIN_S: Final = 15.0
"""A run is recorded at most this long after its slot began, unless it hangs."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it was recorded; times in epoch seconds."""

    slot: int
    due: float
    started: float
    took_ms: float
    outcome: str
    made_up: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """One mark: `x` and `height` in per cent; `run` is None where it is missing."""

    x: float
    height: float
    mark: Mark
    due: float
    run: Run | None

    @property
    def late_ms(self) -> float | None:
        """How long after its slot began the run was started; None where missing."""
        return None if self.run is None else lateness_ms(self.run)


@dataclass(frozen=True, slots=True)
class Strip:
    """One timer of one worker over a span, with its totals."""

    slots: tuple[Slot, ...]
    last: Run | None
    worst_ms: float | None
    made_up: int
    missing: int
    failed: int


def lateness_ms(run: Run) -> float:
    """Return how long after its slot began a run was started, never below 0."""
    return max(0.0, (run.started - run.due) * 1000)


def strip(
    runs: Sequence[Run],
    *,
    period: float,
    since: float,
    now: float,
    alive_from: float | None,
    alive_until: float,
) -> Strip:
    """Draw the runs of one timer of one worker whose slots lie in [since, now).

    Slots are expected from the first after `alive_from` to `alive_until`; if
    `alive_from` is None, none are expected.
    """
    span = now - since
    drawn = [_slot(run, period, since, span) for run in runs if since <= run.due < now]
    owed = _owed(period, since, now, alive_from, alive_until)
    there = {run.slot for run in runs}
    gaps = [
        Slot(_x(number * period, since, span), 100.0, "missing", number * period, None)
        for number in owed
        if number not in there
    ]
    late = [lateness_ms(slot.run) for slot in drawn if slot.run is not None]
    return Strip(
        tuple(sorted([*drawn, *gaps], key=lambda slot: slot.due)),
        max(runs, key=lambda run: run.due, default=None),
        max(late, default=None),
        sum(slot.run is not None and slot.run.made_up for slot in drawn),
        len(gaps),
        sum(slot.mark in ("failed", "partly") for slot in drawn),
    )


def height_of(late_ms: float) -> float:
    """Return the height of a mark in per cent of the strip; the smallest is visible."""
    share = log10(1 + late_ms / _UNIT_MS) / log10(1 + TALLEST_MS / _UNIT_MS)
    return round(12 + 88 * min(1.0, share), 1)


def _slot(run: Run, period: float, since: float, span: float) -> Slot:
    return Slot(
        _x(run.due, since, span),
        height_of(lateness_ms(run)),
        _mark(run, period),
        run.due,
        run,
    )


def _mark(run: Run, period: float) -> Mark:
    match run.outcome:
        case "failed":
            return "failed"
        case "partly":
            return "partly"
        case "skipped":
            return "skipped"
    late = lateness_ms(run) >= min(period / 4, MOST_LATE_S) * 1000
    return "late" if late else "on_time"


def _owed(
    period: float,
    since: float,
    now: float,
    alive_from: float | None,
    alive_until: float,
) -> Iterable[int]:
    if alive_from is None:
        return ()
    # The slot in which a worker starts counts as run: starting does all work at once.
    first = max(ceil(since / period), floor(alive_from / period) + 1)
    last = floor(min(now, alive_until) / period)
    return (
        number
        for number in range(first, last + 1)
        if number * period + WRITTEN_WITHIN_S < now
        and number * period + MOST_LATE_S < alive_until
    )


def _x(due: float, since: float, span: float) -> float:
    return round((due - since) / span * 100, 3)
