"""Lag by queue, topic, group and consumer, in steps; arrays as in `steps`, no Spark.

Rows of the results are in order of their keys. Groups, topics of groups and consumers
are numbers, too, in the order of their names. Whatever is by group or topic sums the
queues that are known: `known_queues` below `queue_count` says that a sum is partial.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from analytics import contracts as c
from analytics.spread.shares import Flags, Floats, Ints, Values

from .steps import (
    AT,
    CLAIM,
    CLAIMED,
    LENGTH,
    NONE,
    QUEUE,
    STEP,
    WHOLE,
    Columns,
    cut,
    firsts,
    in_order,
    lag_of,
    last_by,
    length_of,
    means,
    most,
    of_epochs,
    step_of_moment,
    sums,
    sums_known,
    where,
)

KEY: Final = "key"
"""A group, or a topic of a group."""

CONSUMER: Final = "consumer"
_SHARE: Final = "share"
_MISSING: Final = "missing"


def lag_by_queue(steps: Columns) -> Columns:
    """Merge the epochs that share a step: one row per queue and step.

    Time that a sample claims is known for its queue, whatever epoch it was in.
    """
    rows = in_order(steps, QUEUE, c.SINCE)
    first = firsts((rows[QUEUE], rows[c.SINCE]))
    lasts = length_of(rows)
    length = np.minimum(sums(lasts, first), rows[WHOLE][first])
    seconds = np.minimum(sums(rows[CLAIMED], first), length)
    found: Columns = {
        QUEUE: rows[QUEUE][first],
        c.SINCE: rows[c.SINCE][first],
        c.SECONDS: seconds,
        c.UNKNOWN_SECONDS: length - seconds,
        c.LAG_MEAN: means(rows[c.LAG_MEAN], rows[CLAIMED], first),
        c.LAG_PEAK: most(rows[c.LAG_PEAK], first),
        c.LAG_LAST: last_by(rows[c.LAG_LAST], rows[c.LAG_LAST_AT], first),
        c.LAG_MS_PEAK: most(rows[c.LAG_MS_PEAK], first),
        # `minimum` keeps what is not known.
        c.OVER_SECONDS: np.minimum(sums_known(rows[c.OVER_SECONDS], first), seconds),
        c.IN_RATE: means(rows[c.IN_RATE], lasts, first),
        c.OUT_RATE: means(rows[c.OUT_RATE], lasts, first),
    }
    return where(found, length > 0)


def lag_by(key_of: Ints, peaks: Columns, steps: Columns, queues: Columns) -> Columns:
    """Return one row per key and step, from `peaks_of`, steps and `lag_by_queue`.

    `key_of` has the group, or topic, of each queue. `lag_peak` is the highest sum at
    one sampled moment, which is less than the sum of the queues' peaks. `seconds` is a
    mean over the queues.
    """
    rows = in_order(queues | {KEY: key_of[queues[QUEUE]]}, KEY, c.SINCE)
    first = firsts((rows[KEY], rows[c.SINCE]))
    found: Columns = {
        KEY: rows[KEY][first],
        c.SINCE: rows[c.SINCE][first],
        c.QUEUE_COUNT: _count(np.ones(len(rows[KEY]), bool), first),
        c.KNOWN_QUEUES: _count(rows[c.SECONDS] > 0, first),
        c.LAG_MEAN: sums_known(rows[c.LAG_MEAN], first),
        c.LAG_LAST: _total(rows[c.LAG_LAST], first),
        c.LAG_MS_PEAK: most(rows[c.LAG_MS_PEAK], first),
        c.IN_RATE: sums_known(rows[c.IN_RATE], first),
        c.OUT_RATE: sums_known(rows[c.OUT_RATE], first),
    }
    lengths = _lengths(key_of, steps)
    length = lengths[LENGTH][find(lengths, c.SINCE, found)]
    at = find(peaks, STEP, found)
    found[c.LAG_PEAK] = _taken(peaks[c.LAG_PEAK], at)
    found[c.SECONDS] = length * _known_share(rows, first)
    found[c.UNKNOWN_SECONDS] = length - found[c.SECONDS]
    return found


def lag_by_consumer(
    group_of: Ints, steps: Columns, owners: Columns, seen: Columns
) -> Columns:
    """Return one row per group, consumer and step.

    `owners` are the consumers of queues in epochs by the strategy in use; an owner that
    the client itself reported (`owners_seen`) takes precedence. Queues without either
    are left out. Where epochs share a step, each counts by its length, and
    `queue_count` is the most that the consumer had in one of them.
    """
    owned = _owned(of_epochs(steps), owners, seen)
    owned[KEY] = group_of[owned[QUEUE]]
    rows = in_order(owned, KEY, CONSUMER, c.SINCE, c.EPOCH)
    epochs = _in_epochs(rows)
    first = firsts((epochs[KEY], epochs[CONSUMER], epochs[c.SINCE]))
    lasts = epochs[LENGTH]
    length = np.minimum(sums(lasts, first), epochs[WHOLE][first])
    queue_count = most(epochs[c.QUEUE_COUNT], first)
    seconds = length * sums(lasts * epochs[_SHARE], first) / sums(lasts, first)
    return {
        **{name: epochs[name][first] for name in (KEY, CONSUMER, c.SINCE)},
        c.SECONDS: seconds,
        c.UNKNOWN_SECONDS: length - seconds,
        c.QUEUE_COUNT: queue_count,
        c.KNOWN_QUEUES: np.maximum(queue_count - most(epochs[_MISSING], first), 0),
        c.LAG_MEAN: means(epochs[c.LAG_MEAN], lasts, first),
        c.LAG_LAST: last_by(epochs[c.LAG_LAST], epochs[c.EPOCH], first),
        c.LAG_MS_PEAK: most(epochs[c.LAG_MS_PEAK], first),
        c.IN_RATE: means(epochs[c.IN_RATE], lasts, first),
        c.OUT_RATE: means(epochs[c.OUT_RATE], lasts, first),
    }


def peaks_of(samples: Columns, key_of: Ints, step_ms: int, until_ms: int) -> Columns:
    """Return the highest lag that each group, or topic, had at one moment.

    This cannot be summed from queues, whose peaks fall on different moments. A moment
    counts in each step that its samples claim time of; queues that claim none of a step
    add nothing there, but in the step before the moment this happens only where nothing
    nearer was seen.
    """
    lag = lag_of(samples)
    begin = samples[AT] - samples[CLAIM]
    kept = np.flatnonzero(begin < until_ms)
    key, at, lag = key_of[samples[QUEUE][kept]], samples[AT][kept], lag[kept]
    own = step_of_moment(at, step_ms)
    row, step = cut(begin[kept], own, step_ms)
    rows: Columns = {
        KEY: np.concatenate([key, key[row]]),
        STEP: np.concatenate([own, step]),
        AT: np.concatenate([at, at[row]]),
        c.LAG_PEAK: np.concatenate([lag, lag[row]]),
    }
    rows = in_order(rows, KEY, STEP, AT)
    first = firsts((rows[KEY], rows[STEP], rows[AT]))
    at_once = {name: values[first] for name, values in rows.items()}
    at_once[c.LAG_PEAK] = _total(rows[c.LAG_PEAK], first)
    return highest(at_once)


def highest(peaks: Columns) -> Columns:
    """Merge the peaks that a key has in one step."""
    rows = in_order({name: peaks[name] for name in (KEY, STEP, c.LAG_PEAK)}, KEY, STEP)
    first = firsts((rows[KEY], rows[STEP]))
    found = {name: rows[name][first] for name in (KEY, STEP)}
    return found | {c.LAG_PEAK: most(rows[c.LAG_PEAK], first)}


def owners_seen(samples: Columns, step_ms: int) -> Columns:
    """Return who last reported a queue in each step of an epoch, if anyone did."""
    is_told = (samples[CONSUMER] != NONE) & (samples[c.EPOCH] != NONE)
    rows = where(
        {name: samples[name] for name in (QUEUE, c.EPOCH, AT, CONSUMER)}, is_told
    )
    rows[c.SINCE] = step_of_moment(rows[AT], step_ms)
    key = (QUEUE, c.EPOCH, c.SINCE)
    rows = in_order(rows, *key)
    first = firsts([rows[name] for name in key])
    found = {name: rows[name][first] for name in key}
    return found | {CONSUMER: last_by(rows[CONSUMER], rows[AT], first)}


def find(table: Columns, since: str, rows: Columns) -> Ints:
    """Return the places of rows' keys and steps in a table in their order, or `NONE`.

    `since` is the name of the table's step.
    """
    return _find((table[KEY], table[since]), (rows[KEY], rows[c.SINCE]))


def _find(known: tuple[Ints, ...], asked: tuple[Ints, ...]) -> Ints:
    """Return where each key is among known ones, which are in order, or `NONE`."""
    if not len(known[0]):
        return np.full(len(asked[0]), NONE)
    ours, theirs = (np.zeros(len(each[0]), np.int64) for each in (known, asked))
    is_known = np.ones(len(theirs), bool)
    for column, wanted in zip(known, asked, strict=True):
        values = np.unique(column)
        place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
        is_known &= values[place] == wanted
        ours = ours * len(values) + np.searchsorted(values, column)
        theirs = theirs * len(values) + place
    at = np.minimum(np.searchsorted(ours, theirs), len(ours) - 1)
    found: Ints = np.where(is_known & (ours[at] == theirs), at, NONE)
    return found


def _lengths(key_of: Ints, steps: Columns) -> Columns:
    """Return how long the queues of each key were present in each step.

    Queues of one epoch are present together.
    """
    names = (c.SINCE, c.EPOCH, WHOLE)
    rows = {name: steps[name] for name in names} | {LENGTH: length_of(steps)}
    rows = in_order(rows | {KEY: key_of[steps[QUEUE]]}, KEY, c.SINCE, c.EPOCH)
    first = firsts((rows[KEY], rows[c.SINCE], rows[c.EPOCH]))
    length = most(rows[LENGTH], first)
    rows = {name: values[first] for name, values in rows.items()}
    first = firsts((rows[KEY], rows[c.SINCE]))
    return {
        KEY: rows[KEY][first],
        c.SINCE: rows[c.SINCE][first],
        LENGTH: np.minimum(sums(length, first), rows[WHOLE][first]),
    }


def _owned(steps: Columns, owners: Columns, seen: Columns) -> Columns:
    """Return steps once for each consumer of their queue."""
    names = (QUEUE, c.EPOCH)
    owners = in_order(owners, *names, CONSUMER)
    first = firsts([owners[name] for name in (*names, CONSUMER)])
    owners = {name: values[first] for name, values in owners.items()}
    first = firsts([owners[name] for name in names])
    count = np.diff(np.append(first, len(owners[QUEUE])))
    at = _find(
        (owners[QUEUE][first], owners[c.EPOCH][first]), (steps[QUEUE], steps[c.EPOCH])
    )
    copies = np.where(at == NONE, 1, _taken(count, at))
    row = np.repeat(np.arange(len(at)), copies)
    copy = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    owner = np.where(at[row] == NONE, NONE, _taken(first, at)[row] + copy)
    key = (*names, c.SINCE)
    told = _find(
        tuple(seen[name] for name in key), tuple(steps[name][row] for name in key)
    )
    inferred = _taken(owners[CONSUMER], owner)
    reported = _taken(seen[CONSUMER], told)
    consumer = np.where(reported != NONE, reported, inferred)
    found = {name: values[row] for name, values in steps.items()}
    return where(found | {CONSUMER: consumer}, consumer != NONE)


def _in_epochs(rows: Columns) -> Columns:
    """Sum the queues that a consumer had in an epoch's step."""
    key = (KEY, CONSUMER, c.SINCE, c.EPOCH)
    first = firsts([rows[name] for name in key])
    is_known = rows[c.SECONDS] > 0
    return {
        **{name: rows[name][first] for name in key},
        c.QUEUE_COUNT: _count(np.ones(len(is_known), bool), first),
        _MISSING: _count(~is_known, first),
        _SHARE: _known_share(rows, first),
        LENGTH: most(length_of(rows), first),
        WHOLE: rows[WHOLE][first],
        c.LAG_MEAN: sums_known(rows[c.LAG_MEAN], first),
        c.LAG_LAST: _total(rows[c.LAG_LAST], first),
        c.LAG_MS_PEAK: most(rows[c.LAG_MS_PEAK], first),
        c.IN_RATE: sums_known(rows[c.IN_RATE], first),
        c.OUT_RATE: sums_known(rows[c.OUT_RATE], first),
    }


def _known_share(rows: Columns, first: Ints) -> Floats:
    """Return how much is known of the time that several queues were present."""
    return sums(rows[c.SECONDS], first) / sums(length_of(rows), first)


def _count(flags: Flags, first: Ints) -> Ints:
    return sums(flags.astype(np.int64), first).astype(np.int64)


def _total(values: Ints, first: Ints) -> Ints:
    """Add up the whole numbers that are known; `NONE` where none is."""
    if not len(first):
        return values[:0]
    is_known = values != NONE
    total = np.add.reduceat(np.where(is_known, values, 0), first)
    found: Ints = np.where(_count(is_known, first) > 0, total, NONE)
    return found


def _taken(values: Values, at: Ints) -> Values:
    """Return the values at places, and `NONE` for none."""
    if not len(values):
        return np.full(len(at), NONE)
    return np.where(at == NONE, NONE, values[at])
