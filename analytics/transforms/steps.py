"""What is known of queues in steps of equal length, as arrays; no Spark.

Every queue has a row in every step in which an epoch names it, sampled or not.
`seconds` of it are known, as claimed by samples; `unknown_seconds` are the rest, so
that the two add up to the time that the queue was present. Where a committed offset is
not known the lag is not known either, never 0.

Rates come from the offsets at the end of a step and of the one before it, so that
nothing between two samples is missed; where a step has no sample of its own, the
samples around it are used.

Rows are columns of one length, by name. Queues are numbers from 0, times are ms. An
unknown number is NaN, and an unknown epoch, time or whole number `NONE`; where the time
of an offset is `NONE`, the offset beside it means nothing. Lags and ages (`DETAIL`) are
there if they are among the samples or parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.presence import Period
from analytics.spread.shares import STEP_COLUMNS, Flags, Floats, Ints, Values

OFFSETS: Final = (c.MAX, c.COMMITTED)

REACH_MS: Final = int(c.MOST_WEIGHT * 1000)
"""How far back from its moment a sample may claim time."""

LONGEST_GAP_MS: Final = 180_000
"""Offsets further apart than this (and two steps) give no rate: the gap is too long."""

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
"""Of an epoch, a time, a lag or an age; all are counted from 0 or later."""

CLAIMED: Final = "claimed"
"""Seconds that samples claim under an epoch's number, within its time or not: the first
sample of a new epoch may claim time of the one before."""

WHOLE: Final = "whole"
"""Seconds of the step that are within the period."""

DETAIL: Final = (
    c.LAG_PEAK,
    c.LAG_LAST,
    c.LAG_LAST_AT,
    c.LAG_MS_PEAK,
    c.OVER_SECONDS,
)
"""What tables of lag have and a back-test has no use for."""

_OPTIONAL: Final = {*DETAIL, c.UNKNOWN_SECONDS}

ENDS: Final = ("first_at", "first", "last_at", "last")
_KEY: Final = (QUEUE, c.EPOCH, STEP)
_FOUND: Final = (QUEUE, *STEP_COLUMNS[1:], CLAIMED, WHOLE, *DETAIL)


def in_order(rows: Columns, *key: str) -> Columns:
    """Sort rows by whole numbers; rows that are nearly sorted take little time."""
    order = _order([rows[name] for name in key])
    return {name: values[order] for name, values in rows.items()}


def parts_of_samples(
    samples: Columns, step_ms: int, until_ms: int, *, has_unknown: bool = False
) -> Columns:
    """Return parts of samples in order of queue, epoch and moment.

    A step may have several parts: samples claim time of earlier steps, too. With
    `has_unknown` they have the seconds that are claimed without a known lag, which
    jobs do not need: for these, all time without a known lag is unknown.
    """
    begin = samples[AT] - samples[CLAIM]
    if np.any(begin >= until_ms):
        samples = where(samples, begin < until_ms)
        begin = samples[AT] - samples[CLAIM]
    at = samples[AT]
    lag = known_of(lag_of(samples))
    own = step_of_moment(at, step_ms)
    piece = np.maximum(np.minimum(at, until_ms) - np.maximum(begin, own), 0) / 1000
    known = np.where(np.isnan(lag), 0.0, 1.0)
    queue, epoch = samples[QUEUE], samples[c.EPOCH]
    first = firsts((queue, epoch, own))
    parts = {QUEUE: queue[first], c.EPOCH: epoch[first], STEP: own[first]}
    parts[c.SECONDS] = sums(piece * known, first)
    parts[c.LAG_SECONDS] = sums_known(lag * piece, first)
    for offset in OFFSETS:
        parts |= _ends(offset, samples[offset], at, first)
    row, step = cut(begin, own, step_ms)
    piece_before = _overlap(begin[row], until_ms, step, step_ms)
    before = {
        QUEUE: queue[row],
        c.EPOCH: epoch[row],
        STEP: step,
        c.SECONDS: piece_before * known[row],
        c.LAG_SECONDS: lag[row] * piece_before,
    }
    if has_unknown:
        parts[c.UNKNOWN_SECONDS] = sums(piece * (1 - known), first)
        before[c.UNKNOWN_SECONDS] = piece_before * (1 - known[row])
    if c.LAG_MS in samples:
        detail = _detail(samples, piece)
        parts |= _merged_detail(detail, first)
        earlier = {name: values[row] for name, values in samples.items()}
        before |= _detail(earlier, piece_before)
    return joined([parts, before])


def claims_of(weights: Floats) -> Ints:
    """Return the time (ms) that samples claim, from their weights in seconds."""
    claim = np.floor(weights * 1000 + 0.5).astype(np.int64)
    return np.minimum(claim, REACH_MS)


def lag_of(samples: Columns) -> Ints:
    """Return how far behind a queue was, `NONE` where that is not known.

    An offset may be committed after the maximum was read and be ahead of it: the lag is
    then 0.
    """
    is_known = (samples[c.MAX] != NONE) & (samples[c.COMMITTED] != NONE)
    behind = np.maximum(samples[c.MAX] - samples[c.COMMITTED], 0)
    found: Ints = np.where(is_known, behind, NONE)
    return found


def step_of_moment(at: Ints, step_ms: int) -> Ints:
    """Return the step of moments: a moment belongs to the step that ends with it."""
    found: Ints = (at - 1) // step_ms * step_ms
    return found


def steps_there(spans: Columns, period: Period) -> Columns:
    """Return the steps in which epochs name queues, with their `LENGTH` in seconds.

    An epoch that begins soon after the period has steps without length: its first
    samples may claim time in the period, which belonged to another epoch.
    """
    begin = np.maximum(spans[BEGAN], period.since_ms)
    ahead = period.until_ms + REACH_MS
    over = np.where(spans[OVER] == NONE, ahead, spans[OVER])
    end = np.minimum(over, ahead)
    row, step = cut(begin, end, period.step_ms)
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
    that its samples claim time of. Steps in which an epoch did not name the queue are
    among these, as samples may claim time there.
    """
    step_ms = period.step_ms
    rows = merged(joined([parts, there]))
    if not len(rows[QUEUE]):
        return {name: np.empty(0, np.int64) for name in _FOUND}
    queue, epoch, step = (rows[name] for name in _KEY)
    whole = _overlap(period.since_ms, period.until_ms, step, step_ms)
    of_epoch = firsts((queue, epoch))
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
        CLAIMED: claimed,
        WHOLE: whole,
        **{name: rows[name] for name in DETAIL if name in rows},
    }
    return where(found, whole > 0)


def of_epochs(steps: Columns) -> Columns:
    """Keep the rows of queues while their epoch lasted, for results by epoch."""
    length = length_of(steps)
    return steps if np.all(length > 0) else where(steps, length > 0)


def length_of(steps: Columns) -> Floats:
    """Return how long each row's queue was present in its step."""
    found: Floats = steps[c.SECONDS] + steps[c.UNKNOWN_SECONDS]
    return found


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
        if name not in _OPTIONAL or any(name in table for table in tables)
    }


_NOTHING: Final[Mapping[str, int | float]] = {
    **dict.fromkeys(_KEY, NONE),
    c.SECONDS: 0.0,
    c.UNKNOWN_SECONDS: 0.0,
    c.LAG_SECONDS: np.nan,
    LENGTH: np.nan,
    **{f"{offset}_{end}": NONE for offset in OFFSETS for end in ENDS},
    **dict.fromkeys(DETAIL[:-1], NONE),
    c.OVER_SECONDS: np.nan,
}


def merged(rows: Columns) -> Columns:
    """Sort parts by queue, epoch and step, and make one of those that have the same."""
    rows = in_order(rows, *_KEY)
    first = firsts([rows[name] for name in _KEY])
    if len(first) == len(rows[QUEUE]):
        return rows
    part = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows[QUEUE]))))
    found: Columns = {name: rows[name][first] for name in _KEY}
    found[c.SECONDS] = sums(rows[c.SECONDS], first)
    found[c.LAG_SECONDS] = sums_known(rows[c.LAG_SECONDS], first)
    if c.UNKNOWN_SECONDS in rows:
        found[c.UNKNOWN_SECONDS] = sums(rows[c.UNKNOWN_SECONDS], first)
    if c.LAG_PEAK in rows:
        found |= _merged_detail(rows, first)
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
    begins = firsts((rows[QUEUE],))
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


def _detail(samples: Columns, piece: Floats) -> Columns:
    """Return the lag and age of samples as `DETAIL` of the pieces that they claim."""
    lag, age = lag_of(samples), samples[c.LAG_MS]
    is_aged = (lag != NONE) & (age != NONE)
    return {
        c.LAG_PEAK: lag,
        c.LAG_LAST: lag,
        c.LAG_LAST_AT: np.where(lag != NONE, samples[AT], NONE),
        c.LAG_MS_PEAK: age,
        c.OVER_SECONDS: np.where(is_aged, piece * (age > c.OVER_MS), np.nan),
    }


def _merged_detail(rows: Columns, first: Ints) -> Columns:
    return {
        c.LAG_PEAK: most(rows[c.LAG_PEAK], first),
        c.LAG_LAST: last_by(rows[c.LAG_LAST], rows[c.LAG_LAST_AT], first),
        c.LAG_LAST_AT: most(rows[c.LAG_LAST_AT], first),
        c.LAG_MS_PEAK: most(rows[c.LAG_MS_PEAK], first),
        c.OVER_SECONDS: sums_known(rows[c.OVER_SECONDS], first),
    }


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


def firsts(key: Sequence[Ints]) -> Ints:
    """Return where rows that are sorted by a key have another one than before.

    The functions below take this, and return a value for each key.
    """
    count = len(key[0])
    begins = np.zeros(count, bool)
    begins[:1] = True
    for values in key:
        begins[1:] |= values[1:] != values[:-1]
    return np.flatnonzero(begins)


def sums(values: Values, first: Ints) -> Floats:
    """Add up numbers, all of which are known."""
    if not len(first):
        return np.empty(0)
    found: Floats = np.add.reduceat(values, first)
    return found


def sums_known(values: Floats, first: Ints) -> Floats:
    """Add up the numbers that are known; NaN where none is."""
    is_known = ~np.isnan(values)
    summed = sums(np.where(is_known, values, 0.0), first)
    return np.where(sums(is_known.astype(np.int64), first) > 0, summed, np.nan)


def means(values: Floats, weight: Floats, first: Ints) -> Floats:
    """Return means over the rows where a number is known; NaN where none weighs."""
    is_known = ~np.isnan(values)
    total = sums(np.where(is_known, weight, 0.0), first)
    summed = sums(np.where(is_known, values, 0.0) * weight, first)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, summed / total, np.nan)


def most(values: Values, first: Ints) -> Values:
    """Return the greatest number; `NONE` is less than any, and NaN does not count."""
    if not len(first):
        return values[:0]
    found: Values = np.fmax.reduceat(values, first)
    return found


def last_by(values: Ints, at: Ints, first: Ints) -> Ints:
    """Return the values of the latest time; `NONE` where no time is known."""
    if not len(first):
        return values[:0]
    key = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(at))))
    latest = np.lexsort((at, key))[np.append(first[1:], len(at)) - 1]
    found: Ints = np.where(at[latest] != NONE, values[latest], NONE)
    return found


def whole(column: Any) -> Ints:
    """Return whole numbers of Arrow, with `NONE` for null."""
    found: Ints = column.cast(pa.int64()).fill_null(NONE).to_numpy()
    return found


def whole_ms(times: Any) -> Ints:
    """Return times of Arrow, whatever their unit, as ms."""
    return whole(times.cast(pa.timestamp("ms", tz="UTC")))


def known_of(values: Ints) -> Floats:
    """Return whole numbers as others: NaN for `NONE`."""
    return np.where(values == NONE, np.nan, values)


def where(rows: Columns, mask: Flags) -> Columns:
    """Keep some rows."""
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


def cut(begin: Ints, end: Ints, step_ms: int) -> tuple[Ints, Ints]:
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
