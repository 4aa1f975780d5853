"""The values that a rule for alerts looks at, and what it would have done with them.

The queues of each group are summed by step, and `analytics.trial` then plays the rule
over the steps of one group after another. A task does this for the groups of a bucket,
and returns their numbers and the groups that fired most. No Spark here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from analytics import contracts as c
from analytics.holding import GAP_MS
from analytics.lake.buckets import Bucket
from analytics.lake.storage import Storage
from analytics.presence import Period
from analytics.spread.shares import Flags, Floats, Ints
from analytics.trial import (
    DRAIN,
    IN_STOPS,
    LAG,
    MEMBERS,
    OLDEST,
    OUT_STOPS,
    SKEW,
    Rule,
    Values,
    opening_document,
    play,
    series,
)

from .lag import KEY, find
from .measured import BucketWork, Measured, measured
from .steps import (
    NONE,
    QUEUE,
    Columns,
    firsts,
    in_order,
    known_of,
    length_of,
    most,
    sums,
    sums_known,
)

MOST_GROUPS: Final = 50
"""Groups that are listed, those that fired most first."""

FIRED: Final = "fired"
OPEN_MS: Final = "open_ms"
UNKNOWN_MS: Final = "unknown_ms"
STILL_OPEN: Final = "still_open"
OTHERS: Final = "others"
OPENINGS: Final = "openings"
UNKNOWN: Final = "unknown"
UNKNOWN_COUNT: Final = "unknown_count"
SERIES: Final = "series"

TOTALS: Final = (FIRED, OPEN_MS, STILL_OPEN, UNKNOWN_MS)

VALUE: Final = "value"
PARTIAL: Final = "partial"

_KNOWN_SHARE: Final = 0.9
"""Of a queue's step, this much has to be measured, unless a minute at most is not."""


@dataclass(slots=True)
class Tried:
    """What a rule would have done to some groups.

    `listed` are the rows of the groups that fired most, those first; only the first of
    them has a series.
    """

    group_count: int = 0
    fired_groups: int = 0
    unknown_groups: int = 0
    totals: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOTALS, 0))
    others: list[int] = field(default_factory=list)
    listed: list[dict[str, Any]] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        """Count one more group."""
        self.group_count += 1
        self.fired_groups += row[FIRED] > 0
        self.unknown_groups += row[UNKNOWN_MS] > 0
        for name in TOTALS:
            self.totals[name] += row[name]
        self._add_others(row[OTHERS])
        self._list([row])

    def merge(self, other: Tried) -> None:
        """Count the groups of another bucket."""
        self.group_count += other.group_count
        self.fired_groups += other.fired_groups
        self.unknown_groups += other.unknown_groups
        for name in TOTALS:
            self.totals[name] += other.totals[name]
        self._add_others(other.others)
        self._list(other.listed)

    def _add_others(self, counts: list[int]) -> None:
        known = self.others or [0] * len(counts)
        self.others = [a + b for a, b in zip(known, counts or known, strict=True)]

    def _list(self, rows: Iterable[dict[str, Any]]) -> None:
        self.listed = sorted([*self.listed, *rows], key=_fired_most)[:MOST_GROUPS]
        for row in self.listed[1:]:
            row.pop(SERIES, None)


def _fired_most(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return -row[FIRED], -row[OPEN_MS], -row[UNKNOWN_MS], row[c.GROUP]


def try_bucket(lake: Storage, bucket: Bucket, work: BucketWork) -> Tried:
    """Return what a rule would have done to the groups of a bucket."""
    rule = Rule.of(work.rule)
    tried = Tried()
    for found in measured(lake, bucket, work):
        for group, values in values_by_group(rule.kind, found):
            tried.add(try_group(values, rule, work.period, group))
    return tried


def values_by_group(kind: str, found: Measured) -> Iterator[tuple[str, Values]]:
    """Yield groups, each with what a rule of that kind looks at.

    A value is the worst of a step as far as it is known: the true one may be worse
    where it is partial, and nothing is known where it is None.
    """
    rows = _OF_KIND[kind](found)
    period = found.period
    at_ms = np.minimum(rows[c.SINCE] + period.step_ms, period.until_ms)
    value = rows[VALUE].astype(object)
    value[np.isnan(rows[VALUE])] = None
    first = firsts((rows[KEY],)).tolist()
    for begin, end in zip(first, [*first[1:], len(at_ms)], strict=True):
        yield (
            found.groups.names[rows[KEY][begin]],
            Values(
                at_ms[begin:end].tolist(),
                value[begin:end].tolist(),
                rows[PARTIAL][begin:end].tolist(),
                period.step_ms,
            ),
        )


def _told(rows: Columns, value: Floats, partial: Flags) -> Columns:
    return {
        KEY: rows[KEY],
        c.SINCE: rows[c.SINCE],
        VALUE: value.astype(np.float64),
        PARTIAL: partial,
    }


def _lag(found: Measured) -> Columns:
    """Sum the queues; in a long step the group's peak at one moment may be more."""
    rows = _groups(found)
    worst = np.fmax(rows[_LAG], known_of(found.by_group[c.LAG_PEAK]))
    value = np.where(np.isnan(rows[_LAG]), np.nan, worst)
    return _told(rows, value, _some(rows, _LAG_KNOWN))


def _oldest(found: Measured) -> Columns:
    rows = _groups(found)
    return _told(rows, known_of(rows[_AGE]), _some(rows, _AGE_KNOWN))


def _drain(found: Measured) -> Columns:
    """Divide the lag by how fast it shrinks: never done where it does not."""
    rows = _groups(found)
    lag, shrinks = rows[_LAG], rows[c.OUT_RATE] - rows[c.IN_RATE]
    with np.errstate(divide="ignore", invalid="ignore"):
        takes = np.where(shrinks > 0, lag / shrinks * 1000, np.inf)
    takes = np.where(lag == 0, 0.0, takes)
    is_unknown = _some(rows, _IN_KNOWN) | _some(rows, _OUT_KNOWN) | np.isnan(lag)
    value = np.where(is_unknown, np.nan, takes)
    return _told(rows, value, _some(rows, _LAG_KNOWN))


def _in_stops(found: Measured) -> Columns:
    rows = _groups(found)
    return _told(rows, rows[c.IN_RATE], _some(rows, _IN_KNOWN))


def _out_stops(found: Measured) -> Columns:
    """Return the rate out; without end while nothing waits, which is no standstill."""
    rows = _groups(found)
    lag = rows[_LAG]
    nothing = (lag == 0) & ~_some(rows, _LAG_KNOWN)
    value = np.where(lag > 0, rows[c.OUT_RATE], np.nan)
    value = np.where(nothing, np.inf, value)
    return _told(rows, value, _some(rows, _OUT_KNOWN) & ~nothing)


def _skew(found: Measured) -> Columns:
    """Return the largest lag of a member over the mean; 1 while nothing waits.

    Members without queues count. Nothing is known unless the lag and the owner of every
    queue are.
    """
    rows = _groups(found)
    members = in_order(found.by_consumer, KEY, c.SINCE)
    first = firsts((members[KEY], members[c.SINCE]))
    summed: Columns = {
        KEY: members[KEY][first],
        c.SINCE: members[c.SINCE][first],
        c.LAG_PEAK: most(members[c.LAG_MEAN], first),
        c.LAG_MEAN: sums_known(members[c.LAG_MEAN], first),
        c.QUEUE_COUNT: sums(members[c.QUEUE_COUNT], first),
    }
    at = find(summed, c.SINCE, rows)
    peak, total, owned = (
        _at(summed[name], at) for name in (c.LAG_PEAK, c.LAG_MEAN, c.QUEUE_COUNT)
    )
    counts = _member_counts(found)
    count = _at(counts[c.MEMBER_COUNT], find(counts, c.SINCE, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        uneven = np.where(total == 0, 1.0, peak * count / total)
    is_whole = ~_some(rows, _LAG_KNOWN) & (owned >= rows[c.QUEUE_COUNT])
    value = np.where(is_whole, uneven, np.nan)
    return _told(rows, value, np.zeros(len(value), bool))


def _members(found: Measured) -> Columns:
    """Return the fewest members of a step; not known where nothing was measured."""
    rows = _member_counts(found)
    value = np.where(rows[c.SECONDS] > 0, rows[c.MEMBER_COUNT], np.nan)
    return _told(rows, value, np.zeros(len(value), bool))


_OF_KIND: Final[Mapping[str, Callable[[Measured], Columns]]] = {
    LAG: _lag,
    OLDEST: _oldest,
    DRAIN: _drain,
    IN_STOPS: _in_stops,
    OUT_STOPS: _out_stops,
    SKEW: _skew,
    MEMBERS: _members,
}

_LAG: Final = "lag"
_AGE: Final = "age"
_LAG_KNOWN: Final = "lag_known"
_AGE_KNOWN: Final = "age_known"
_IN_KNOWN: Final = "in_known"
_OUT_KNOWN: Final = "out_known"


def _groups(found: Measured) -> Columns:
    """Return the sums of groups, and count the queues of which a value is known."""
    queues = found.queues
    group = found.groups.group_of[queues[QUEUE]]
    queues = in_order(queues | {KEY: group}, KEY, c.SINCE)
    first = firsts((queues[KEY], queues[c.SINCE]))
    is_measured = _is_measured(queues)

    def count(flags: Flags) -> Ints:
        return sums(flags.astype(np.int64), first).astype(np.int64)

    by_group = found.by_group
    return {
        **{name: by_group[name] for name in (KEY, c.SINCE, c.QUEUE_COUNT)},
        _LAG: by_group[c.LAG_MEAN],
        _AGE: by_group[c.LAG_MS_PEAK],
        c.IN_RATE: by_group[c.IN_RATE],
        c.OUT_RATE: by_group[c.OUT_RATE],
        _LAG_KNOWN: count(~np.isnan(queues[c.LAG_MEAN]) & is_measured),
        _AGE_KNOWN: count((queues[c.LAG_MS_PEAK] != NONE) & is_measured),
        _IN_KNOWN: count(~np.isnan(queues[c.IN_RATE])),
        _OUT_KNOWN: count(~np.isnan(queues[c.OUT_RATE])),
    }


def _is_measured(queues: Columns) -> Flags:
    """Tell whether enough of a queue's step was measured to speak for all of it.

    As readings of a running group may be a minute apart, a minute may be missing.
    """
    missing = queues[c.UNKNOWN_SECONDS]
    allowed = np.maximum(GAP_MS / 1000, length_of(queues) * (1 - _KNOWN_SHARE))
    found: Flags = (queues[c.SECONDS] > 0) & (missing <= allowed)
    return found


def _some(rows: Columns, known: str) -> Flags:
    """Tell whether a value is known for some of the queues at most."""
    found: Flags = rows[known] < rows[c.QUEUE_COUNT]
    return found


def _at(values: Floats | Ints, at: Ints) -> Floats:
    """Return the values at places, and NaN for none."""
    if not len(values):
        return np.full(len(at), np.nan)
    return np.where(at == NONE, np.nan, values[at])


def _member_counts(found: Measured) -> Columns:
    """Return the fewest members of each group's step, and its measured seconds."""
    steps = found.of_epochs
    names = (c.SINCE, c.EPOCH, c.SECONDS)
    rows = {name: steps[name] for name in names}
    rows[KEY] = found.groups.group_of[steps[QUEUE]]
    rows = in_order(rows, KEY, c.SINCE, c.EPOCH)
    first = firsts((rows[KEY], rows[c.SINCE], rows[c.EPOCH]))
    group, since, epoch = (rows[name][first] for name in (KEY, c.SINCE, c.EPOCH))
    seconds = most(rows[c.SECONDS], first)
    counts = found.member_counts()
    keys = zip(group.tolist(), epoch.tolist(), strict=True)
    count = np.array([counts.get(key, np.nan) for key in keys], np.float64)
    first = firsts((group, since))
    fewest = np.fmin.reduceat(count, first) if len(first) else count
    return {
        KEY: group[first],
        c.SINCE: since[first],
        c.MEMBER_COUNT: fewest,
        c.SECONDS: sums(seconds, first),
    }


def try_group(given: Values, rule: Rule, period: Period, group: str) -> dict[str, Any]:
    """Play a rule over the steps of one group.

    `others` are the numbers for `Rule.alternatives`, in their order.
    """
    played = play(given, rule)
    others = [play(given, rule, each).count for each in rule.alternatives().values()]
    return {
        c.GROUP: group,
        FIRED: played.count,
        OPEN_MS: played.open_ms,
        UNKNOWN_MS: played.unknown_ms,
        STILL_OPEN: int(played.still_open),
        OTHERS: others,
        OPENINGS: [opening_document(group, each) for each in played.openings],
        UNKNOWN: played.unknown,
        UNKNOWN_COUNT: played.unknown_count,
        SERIES: series(given, rule, period.since_ms, period.until_ms),
    }
