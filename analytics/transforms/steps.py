"""Steps of queues as arrays: what `parts`, `presence` and `lag` do for Spark's frames.

Rows are columns of one length, by name. Queues are numbers from 0, times are ms. An
unknown number is NaN, an unknown epoch or time is `NONE`; where the time of an offset
is `NONE`, the offset beside it means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from analytics import contracts as c
from analytics.presence import Period
from analytics.spread.shares import STEP_COLUMNS, Flags, Floats, Ints, Values

from .lag import LONGEST_GAP_MS
from .parts import OFFSETS, REACH_MS

Columns: TypeAlias = dict[str, Values]
"""Whole numbers, or others: the names tell."""

QUEUE: Final = "queue"
AT: Final = "at"
CLAIM: Final = "claim"
STEP: Final = "step"
BEGAN: Final = "began"
OVER: Final = "over"
LENGTH: Final = "length"

NONE: Final = -1
"""Of an epoch or a time; both are counted from 0 or later."""

ENDS: Final = ("first_at", "first", "last_at", "last")
_KEY: Final = (QUEUE, c.EPOCH, STEP)
_FOUND: Final = (QUEUE, *STEP_COLUMNS[1:])


def in_order(rows: Columns, *key: str) -> Columns:
    """Sort rows by whole numbers; rows that are nearly sorted take little time."""
    order = _order([rows[name] for name in key])
    return {name: values[order] for name, values in rows.items()}


def parts_of_samples(samples: Columns, step_ms: int, until_ms: int) -> Columns:
    """Return parts of samples in order of queue, epoch and moment.

    A step may have several parts: samples claim time of earlier steps, too.
    """
    begin = samples[AT] - samples[CLAIM]
    if np.any(begin >= until_ms):
        samples = _where(samples, begin < until_ms)
        begin = samples[AT] - samples[CLAIM]
    at = samples[AT]
    lag = _lag(samples)
    # A moment belongs to the step that ends with it.
    own = (at - 1) // step_ms * step_ms
    piece = np.maximum(np.minimum(at, until_ms) - np.maximum(begin, own), 0) / 1000
    known = np.where(np.isnan(lag), 0.0, 1.0)
    queue, epoch = samples[QUEUE], samples[c.EPOCH]
    first = _first((queue, epoch, own))
    parts = {QUEUE: queue[first], c.EPOCH: epoch[first], STEP: own[first]}
    parts[c.SECONDS] = _sums(piece * known, first)
    told = _sums(known, first) > 0
    summed = _sums(np.nan_to_num(lag) * piece, first)
    parts[c.LAG_SECONDS] = np.where(told, summed, np.nan)
    for offset in OFFSETS:
        parts |= _ends(offset, samples[offset], at, first)
    row, step = _cut(begin, own, step_ms)
    piece = _overlap(begin[row], until_ms, step, step_ms)
    before = {
        QUEUE: queue[row],
        c.EPOCH: epoch[row],
        STEP: step,
        c.SECONDS: piece * known[row],
        c.LAG_SECONDS: lag[row] * piece,
    }
    return joined([parts, before])


def steps_there(spans: Columns, period: Period) -> Columns:
    """Return the steps in which epochs name queues, with their `LENGTH` in seconds.

    An epoch that begins soon after the period has steps without length: its first
    samples may claim time in the period, which belonged to another epoch.
    """
    begin = np.maximum(spans[BEGAN], period.since_ms)
    ahead = period.until_ms + REACH_MS
    over = np.where(spans[OVER] == NONE, ahead, spans[OVER])
    end = np.minimum(over, ahead)
    row, step = _cut(begin, end, period.step_ms)
    within = np.minimum(end, period.until_ms)[row]
    return {
        QUEUE: spans[QUEUE][row],
        c.EPOCH: spans[c.EPOCH][row],
        STEP: step,
        LENGTH: _overlap(begin[row], within, step, period.step_ms),
    }


def steps_of(parts: Columns, there: Columns, period: Period) -> Columns:
    """Return what is known of queues in steps of a period, by queue, epoch and step.

    A queue of an epoch without a step in `there` is taken to be present in the steps
    that its samples claim time of.
    """
    step_ms = period.step_ms
    rows = _merged(joined([parts, there]))
    if not len(rows[QUEUE]):
        return {name: np.empty(0, np.int64) for name in _FOUND}
    queue, epoch, step = (rows[name] for name in _KEY)
    whole = _overlap(period.since_ms, period.until_ms, step, step_ms)
    of_epoch = _first((queue, epoch))
    is_told = np.logical_or.reduceat(~np.isnan(rows[LENGTH]), of_epoch)
    sizes = np.diff(np.append(of_epoch, len(queue)))
    untold = np.where(np.repeat(is_told, sizes), 0.0, whole)
    length = np.where(np.isnan(rows[LENGTH]), untold, rows[LENGTH])
    claimed = rows[c.SECONDS]
    seconds = np.minimum(claimed, length)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(claimed > 0, rows[c.LAG_SECONDS] / claimed, np.nan)
    found: Columns = {
        QUEUE: queue,
        c.EPOCH: epoch,
        c.SINCE: step,
        c.SECONDS: seconds,
        c.UNKNOWN_SECONDS: length - seconds,
        c.LAG_MEAN: mean,
        c.IN_RATE: _rates(c.MAX, rows, step_ms),
        c.OUT_RATE: _rates(c.COMMITTED, rows, step_ms),
    }
    return _where(found, (whole > 0) & (length > 0))


def joined(tables: Sequence[Columns]) -> Columns:
    """Return the rows of all; what a table lacks is unknown there."""
    sizes = [len(table[QUEUE]) for table in tables]
    return {
        name: np.concatenate(
            [
                table[name] if name in table else np.full(size, nothing)
                for table, size in zip(tables, sizes, strict=True)
            ]
        )
        for name, nothing in _NOTHING.items()
    }


_NOTHING: Final[Mapping[str, int | float]] = {
    **dict.fromkeys(_KEY, NONE),
    c.SECONDS: 0.0,
    c.LAG_SECONDS: np.nan,
    LENGTH: np.nan,
    **{f"{offset}_{end}": NONE for offset in OFFSETS for end in ENDS},
}


def _merged(rows: Columns) -> Columns:
    """Sort rows by queue, epoch and step, and make one of those that have the same."""
    rows = in_order(rows, *_KEY)
    first = _first([rows[name] for name in _KEY])
    if len(first) == len(rows[QUEUE]):
        return rows
    part = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows[QUEUE]))))
    told = _sums(np.where(np.isnan(rows[c.LAG_SECONDS]), 0.0, 1.0), first) > 0
    summed = _sums(np.nan_to_num(rows[c.LAG_SECONDS]), first)
    found: Columns = {name: rows[name][first] for name in _KEY}
    found[c.SECONDS] = _sums(rows[c.SECONDS], first)
    found[c.LAG_SECONDS] = np.where(told, summed, np.nan)
    found[LENGTH] = np.fmax.reduceat(rows[LENGTH], first)
    for offset in OFFSETS:
        for end, place in (("first", 0), ("last", -1)):
            value, time = rows[f"{offset}_{end}"], rows[f"{offset}_{end}_at"]
            known = np.flatnonzero(time != NONE)
            known = known[np.lexsort((time[known], part[known]))]
            at = _edges(part[known], place)
            chosen = np.full(len(first), NONE)
            chosen[part[known[at]]] = known[at]
            is_known = chosen != NONE
            for name, values in ((end, value), (f"{end}_at", time)):
                found[f"{offset}_{name}"] = np.where(is_known, values[chosen], NONE)
    return found


def _rates(offset: str, rows: Columns, step_ms: int) -> Floats:
    """Return an offset's growth a second since the step before, else within the step.

    NaN where it shrank: the topic was recreated, or the group was reset.
    """
    first, first_at, own, own_at = (
        rows[f"{offset}_{end}"] for end in ("first", "first_at", "last", "last_at")
    )
    count = len(own)
    place = np.arange(count)
    begins = _first((rows[QUEUE],))
    sizes = np.diff(np.append(begins, count))
    begin, end = np.repeat(begins, sizes), np.repeat(begins + sizes, sizes)
    before = np.maximum.accumulate(np.where(own_at != NONE, place, -1))
    before = np.concatenate([[-1], before[:-1]])
    has_prior = before >= begin
    prior = np.where(has_prior, own[before], 0)
    prior_at = np.where(has_prior, own_at[before], 0)
    after = np.where(first_at != NONE, place, count)
    after = np.minimum.accumulate(after[::-1])[::-1]
    after = np.minimum(np.append(after[1:], count), count - 1)
    # A sample that claims time of a step comes at most this many steps later.
    soon = max(2, LONGEST_GAP_MS // step_ms)
    has_own = own_at != NONE
    is_next = (after > place) & (after < end) & (after - place <= soon)
    is_next &= first_at[after] != NONE
    last = np.where(has_own, own, first[after])
    last_at = np.where(has_own, own_at, first_at[after])
    is_near = has_prior & (last_at - prior_at <= max(2 * step_ms, LONGEST_GAP_MS))
    start = np.where(is_near, prior, first)
    start_at = np.where(is_near, prior_at, first_at)
    has_grown = (has_own | is_next) & (is_near | (first_at != NONE))
    has_grown &= (last >= start) & (last_at > start_at)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = (last - start) * 1000 / (last_at - start_at)
    found: Floats = np.where(has_grown, rate, np.nan)
    return found


def _lag(samples: Columns) -> Floats:
    """Return how far behind a queue was; an offset may be committed after the maximum
    was read and be ahead of it: the lag is then 0."""
    is_known = (samples[c.MAX] != NONE) & (samples[c.COMMITTED] != NONE)
    behind = np.maximum(samples[c.MAX] - samples[c.COMMITTED], 0)
    return np.where(is_known, behind, np.nan)


def _ends(offset: str, value: Ints, at: Ints, first: Ints) -> Columns:
    """Return the first and last known value of an offset in parts, and their times."""
    known = np.flatnonzero(value != NONE)
    part = np.searchsorted(first, known, side="right") - 1
    found: Columns = {f"{offset}_{end}": np.full(len(first), NONE) for end in ENDS}
    for end, place in (("first", 0), ("last", -1)):
        edge = _edges(part, place)
        row = known[edge]
        found[f"{offset}_{end}"][part[edge]] = value[row]
        found[f"{offset}_{end}_at"][part[edge]] = at[row]
    return found


def _edges(part: Ints, place: int) -> Ints:
    """Return where the first row of each part is (place 0), or the last (-1)."""
    changes = np.flatnonzero(part[1:] != part[:-1])
    if not len(part):
        return changes
    if place:
        return np.append(changes, len(part) - 1)
    return np.concatenate([[0], changes + 1])


def _first(key: Sequence[Ints]) -> Ints:
    """Return where rows that are sorted by a key have another one than before."""
    count = len(key[0])
    begins = np.zeros(count, bool)
    begins[:1] = True
    for values in key:
        begins[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(begins)


def _sums(values: Values, first: Ints) -> Floats:
    if not len(first):
        return np.empty(0)
    found: Floats = np.add.reduceat(values, first)
    return found


def _where(rows: Columns, mask: Flags) -> Columns:
    return {name: values[mask] for name, values in rows.items()}


def _order(key: Sequence[Ints]) -> Ints:
    """Return the stable order by several columns, packed into one number if it fits."""
    if not len(key[0]):
        return np.empty(0, np.int64)
    packed = np.zeros(len(key[0]), np.int64)
    room = 1
    for values in key:
        low = values.min()
        span = int(values.max()) - int(low) + 1
        room *= span
        if room >= 1 << 62:
            return np.lexsort(tuple(reversed(key)))
        packed = packed * span + (values - low)
    return np.argsort(packed, kind="stable")


def _cut(begin: Ints, end: Ints, step_ms: int) -> tuple[Ints, Ints]:
    """Return for each step that spans reach into the row of the span, and the step."""
    first = begin // step_ms * step_ms
    count = np.where(begin < end, (end - 1 - first) // step_ms + 1, 0)
    row = np.repeat(np.arange(len(begin)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, first[row] + place * step_ms


def _overlap(begin: Ints | int, end: Ints | int, step: Ints, step_ms: int) -> Floats:
    """Return the seconds by which spans and steps overlap."""
    last = np.minimum(end, step + step_ms)
    found: Floats = np.maximum(last - np.maximum(begin, step), 0) / 1000
    return found
