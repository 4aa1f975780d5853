"""The data sets of a back-test about members, as Arrow tables with names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.division import IN_USE, NOBODY, Candidate

from .scores import scored
from .shares import EpochNames, Flags, Floats, Ints, Share, StepRows, summed
from .totals import SCORES, Changes, strategy_totals

_TIME: Final = pa.timestamp("us", tz="UTC")
_TEXT: Final = pa.string()
_KEY: Final = (
    (c.CLUSTER, _TEXT),
    (c.GROUP, _TEXT),
    (c.EPOCH, pa.int64()),
    (c.STRATEGY, _TEXT),
)

TABLES: Final[Mapping[str, Any]] = {
    c.LOAD_BY_MEMBER: pa.schema(
        [
            *_KEY,
            (c.CLIENT_ID, _TEXT),
            (c.QUEUE_COUNT, pa.int64()),
            *((name, pa.float64()) for name in (c.SECONDS, c.UNKNOWN_SECONDS)),
            (c.LAG_MEAN, pa.float64()),
            *((name, pa.float64()) for name in (c.LAG_PEAK, c.LOAD)),
        ]
    ),
    c.MEMBER_BY_TIME: pa.schema(
        [
            *_KEY,
            (c.CLIENT_ID, _TEXT),
            (c.SINCE, _TIME),
            (c.SECONDS, pa.float64()),
            (c.UNKNOWN_SECONDS, pa.float64()),
            (c.QUEUE_COUNT, pa.int64()),
            (c.KNOWN_QUEUES, pa.int64()),
            *((name, pa.float64()) for name in (c.LAG_MEAN, c.LOAD)),
        ]
    ),
    c.SKEW_BY_TIME: pa.schema(
        [
            *_KEY,
            (c.SINCE, _TIME),
            (c.SECONDS, pa.float64()),
            (c.UNKNOWN_SECONDS, pa.float64()),
            (c.MEMBER_COUNT, pa.int64()),
            (c.IDLE_COUNT, pa.int64()),
            (c.UNOWNED_COUNT, pa.int64()),
            *((name, pa.float64()) for name in SCORES),
            (c.LOAD_PEAK, pa.float64()),
            (c.OVERLOAD, pa.bool_()),
            (c.DRAIN_SECONDS, pa.float64()),
            (c.NEVER_DRAINS, pa.bool_()),
        ]
    ),
    c.STRATEGIES: pa.schema(
        [
            *((name, _TEXT) for name in (c.CLUSTER, c.GROUP, c.STRATEGY)),
            (c.SECONDS, pa.float64()),
            (c.UNKNOWN_SECONDS, pa.float64()),
            (c.EPOCH_COUNT, pa.int64()),
            (c.IDLE_SHARE, pa.float64()),
            *((name, pa.float64()) for name in SCORES),
            (c.OVERLOAD_SECONDS, pa.float64()),
            (c.DRAIN_PEAK, pa.float64()),
            (c.NEVER_SECONDS, pa.float64()),
            (c.UNOWNED_COUNT, pa.int64()),
            (c.MOVES, pa.int64()),
            (c.MOVES_PER_CHANGE, pa.float64()),
            (c.RANK, pa.int32()),
            (c.STRATEGY_SOURCE, _TEXT),
            (c.IN_USE, pa.bool_()),
        ]
    ),
}
"""The schemas of the data sets, by name."""


def spread_tables(
    rows: StepRows,
    names: EpochNames,
    candidates: Sequence[Candidate],
    changes: Changes,
    wanted: Collection[str],
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each wanted data set, candidate by candidate; totals last.

    The strategy in use is also among the candidates under its own name. There it only
    shows what members were seen to consume, and has no rows.
    """
    in_use = next(each for each in candidates if each.name == IN_USE)
    capacity = rows.capacity(rows.share(in_use.column))
    scores = {}
    for candidate in candidates:
        if candidate is in_use:
            continue
        share = rows.share(candidate.column)
        named = _Named(rows, names, candidate.name)
        if c.MEMBER_BY_TIME in wanted:
            yield c.MEMBER_BY_TIME, named.by_time(share)
        scores[candidate.name] = found = scored(share, rows, capacity, candidate.added)
        yield c.SKEW_BY_TIME, named.skew(found)
        if c.LOAD_BY_MEMBER in wanted:
            yield c.LOAD_BY_MEMBER, named.over_period(share)
    yield (
        c.STRATEGIES,
        _table(c.STRATEGIES, strategy_totals(scores, rows, names, changes)),
    )


class _Named:
    """Makes tables of one candidate's figures."""

    def __init__(self, rows: StepRows, names: EpochNames, strategy: str) -> None:
        self._rows = rows
        self._names = names
        self._strategy = strategy

    def by_time(self, share: Share) -> pa.Table:
        """Return what each member would have had in each step.

        Imagined members have no `client_id`.
        """
        owned = share.is_owned
        step, place = share.step[owned], share.place[owned]
        epoch = self._rows.epoch_row[step]
        is_real = place < self._names.size[epoch]
        member = np.where(is_real, self._names.first[epoch] + place, 0)
        return self._table(
            c.MEMBER_BY_TIME,
            epoch,
            {
                c.CLIENT_ID: self._client_ids(member, is_real),
                c.SINCE: self._rows.since[step],
                c.SECONDS: share.seconds[owned],
                c.UNKNOWN_SECONDS: share.unknown[owned],
                c.QUEUE_COUNT: share.queues[owned],
                c.KNOWN_QUEUES: share.known[owned],
                c.LAG_MEAN: share.lag[owned],
                c.LOAD: share.load[owned],
            },
        )

    def skew(self, found: Mapping[str, Floats | Ints]) -> pa.Table:
        """Return the figures of `scored`."""
        step = found[c.SINCE].astype(np.int64)
        columns = {**found, c.SINCE: self._rows.since[step]}
        return self._table(c.SKEW_BY_TIME, self._rows.epoch_row[step], columns)

    def over_period(self, share: Share) -> pa.Table:
        """Return what each member of each epoch had over the period.

        Lag and load are those of the steps in which they were known for all its queues.
        Members that had nothing have a row of zeros; imagined members have none, and no
        member has one where the candidate could not be computed.
        """
        size, first = self._names.size, self._names.first
        epoch = self._rows.epoch_row[share.step]
        is_computed = np.zeros(len(size), bool)
        is_computed[epoch] = True
        is_real = (share.place != NOBODY) & (share.place < size[epoch])
        sums = _Sums((first[epoch] + share.place)[is_real], int(first[-1]))
        seconds, unknown = share.seconds[is_real], share.unknown[is_real]
        lag = np.where(share.lag_whole, share.lag, np.nan)[is_real]
        load = np.where(share.load_whole, share.load, np.nan)[is_real]
        queues = sums.max(share.queues[is_real].astype(np.float64))
        had_none = np.isnan(queues)
        member = np.flatnonzero(np.repeat(is_computed, size))
        figures = {
            c.QUEUE_COUNT: np.where(had_none, 0, queues),
            c.SECONDS: np.where(had_none, np.nan, sums.sum(seconds)),
            c.UNKNOWN_SECONDS: np.where(had_none, np.nan, sums.sum(unknown)),
            c.LAG_MEAN: np.where(had_none, 0, sums.mean(lag, seconds)),
            c.LAG_PEAK: np.where(had_none, 0, sums.max(lag)),
            c.LOAD: np.where(had_none, 0, sums.mean(load, seconds)),
        }
        return self._table(
            c.LOAD_BY_MEMBER,
            np.repeat(np.arange(len(size)), size)[member],
            {
                c.CLIENT_ID: self._client_ids(member, np.ones(len(member), bool)),
                **{name: values[member] for name, values in figures.items()},
            },
        )

    def _client_ids(self, member: Ints, is_real: Flags) -> Any:
        return self._names.client_ids.take(pa.array(member, mask=~is_real))

    def _table(self, dataset: str, epoch: Ints, columns: Mapping[str, Any]) -> pa.Table:
        at = pa.array(epoch)
        named = {
            name: self._names.column(name).take(at)
            for name in (c.CLUSTER, c.GROUP, c.EPOCH)
        }
        named[c.STRATEGY] = pa.repeat(self._strategy, len(epoch))
        return _table(dataset, {**named, **columns})


class _Sums:
    """Sums and peaks for a given number of members; NaN is unknown."""

    def __init__(self, member: Ints, members: int) -> None:
        self._member = member
        self._members = members

    def sum(self, values: Floats) -> Floats:
        return summed(self._member, values, self._members)

    def max(self, values: Floats) -> Floats:
        found = np.full(self._members, np.nan)
        np.fmax.at(found, self._member, values)
        return found

    def mean(self, values: Floats, weight: Floats) -> Floats:
        known = np.where(np.isnan(values), 0.0, weight)
        total = self.sum(known)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.sum(np.nan_to_num(values) * known) / total
        return np.where(total > 0, mean, np.nan)


def _table(dataset: str, columns: Mapping[str, Any]) -> pa.Table:
    schema = TABLES[dataset]
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Any, kind: Any) -> Any:
    """Return values as Arrow has them; NaN becomes null."""
    if isinstance(values, np.ndarray):
        if pa.types.is_timestamp(kind):
            return pa.array(values, pa.int64()).cast(kind)
        if values.dtype == np.float64:
            return pa.array(values, from_pandas=True).cast(kind)
        return pa.array(values).cast(kind)
    return pa.array(values, kind) if isinstance(values, list) else values
