"""Epochs of some groups as a back-test needs them; no Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.division import MEMBER_IDS, WEIGHTS, Candidate, Divider
from analytics.spread import EpochNames
from analytics.spread.shares import Floats, Ints
from rmqcore.allocation import DEFAULT_STRATEGY

from .steps import BEGAN, NONE, OVER, QUEUE, Columns

QueueKey = tuple[str, str, str, int]
"""Group, topic, broker, queue id."""

OWNED: Final = "owned"
_CLUSTERING: Final = "CLUSTERING"
_ASSUMED: Final = "assumed"
_TIMES: Final = (c.TIME, c.BEGAN, c.ENDED_BEFORE)
_COLUMNS: Final = (
    c.CLUSTER,
    c.GROUP,
    c.EPOCH,
    c.MODE,
    c.STRATEGY,
    c.STRATEGY_SOURCE,
    c.OPTIONS,
    c.MEMBERS,
    c.QUEUES,
)

Epoch = dict[str, Any]


def told_epochs(table: pa.Table, is_wanted: Callable[[str], bool]) -> list[Epoch]:
    """Return the newest row of each epoch of the wanted groups, in order.

    All are of one cluster. Times are ms. `OVER` is when the epoch was seen to have
    ended, or the next one began; None while it runs.
    """
    wanted = [name for name in table[c.GROUP].unique().to_pylist() if is_wanted(name)]
    chosen = pa.compute.is_in(table[c.GROUP], pa.array(wanted, pa.string()))
    table = table.filter(chosen)
    columns = {name: table[name].to_pylist() for name in _COLUMNS}
    for name in _TIMES:
        columns[name] = table[name].cast(pa.int64()).to_pylist()
    newest: dict[tuple[str, int], Epoch] = {}
    for values in zip(*columns.values(), strict=True):
        epoch = dict(zip(columns, values, strict=True))
        key = (epoch[c.GROUP], epoch[c.EPOCH])
        if key not in newest or newest[key][c.TIME] < epoch[c.TIME]:
            newest[key] = epoch
    found = [newest[key] for key in sorted(newest)]
    for epoch in found:
        epoch[OVER] = epoch[c.ENDED_BEFORE]
    # An epoch that a killed collector left open ended where the next one began.
    for epoch, following in pairwise(found):
        if epoch[c.GROUP] == following[c.GROUP]:
            known = (epoch[OVER], following[c.BEGAN])
            epoch[OVER] = min(each for each in known if each is not None)
    return found


def divided_epochs(told: Iterable[Epoch], since_ms: int) -> list[Epoch]:
    """Keep the epochs of CLUSTERING groups that were not over by then.

    `member_ids` lists a client id once for each process that has it. In BROADCASTING
    nothing is divided; where the strategy is not known it is assumed to be AVG, and
    `strategy_source` says so.
    """
    return [
        epoch
        | {
            c.STRATEGY: epoch[c.STRATEGY] or DEFAULT_STRATEGY,
            c.STRATEGY_SOURCE: epoch[c.STRATEGY_SOURCE]
            if epoch[c.STRATEGY]
            else _ASSUMED,
            MEMBER_IDS: [member[c.CLIENT_ID] for member in epoch[c.MEMBERS]],
            WEIGHTS: None,
        }
        for epoch in told
        if _lasts(epoch, since_ms)
        and (epoch[c.MODE] or _CLUSTERING) == _CLUSTERING
        and epoch[c.MEMBERS]
    ]


def _lasts(epoch: Epoch, since_ms: int) -> bool:
    """Say whether an epoch was not over by then."""
    return bool(epoch[OVER] is None or epoch[OVER] > since_ms)


def queues_of(epoch: Epoch) -> list[QueueKey]:
    """Return the keys of the queues that an epoch names."""
    return [
        (epoch[c.GROUP], queue[c.TOPIC], queue[c.BROKER], queue[c.QUEUE_ID])
        for queue in epoch[c.QUEUES]
    ]


def queues_named(
    told: Iterable[Epoch], since_ms: int, *, divided_only: bool
) -> set[QueueKey]:
    """Return the queues of epochs that were not over by then, or are divided."""
    epochs = (
        divided_epochs(told, since_ms)
        if divided_only
        else (each for each in told if _lasts(each, since_ms))
    )
    return {key for epoch in epochs for key in queues_of(epoch)}


class Groups:
    """The groups of a bucket, from their epochs: queues have numbers in order of names.

    So have the groups, and the topics of each. Only queues that are given have numbers.
    """

    def __init__(
        self, told: Sequence[Epoch], since_ms: int, queues: Iterable[QueueKey]
    ) -> None:
        self.epochs = divided_epochs(told, since_ms)
        self.queues = sorted(queues)
        self.number = {key: number for number, key in enumerate(self.queues)}
        self.names = sorted(
            {key[0] for key in self.queues} | {each[c.GROUP] for each in self.epochs}
        )
        self.topics = sorted({key[:2] for key in self.queues})
        self.at = {name: at for at, name in enumerate(self.names)}
        topic_at = {key: at for at, key in enumerate(self.topics)}
        self.group_of: Ints = np.array(
            [self.at[key[0]] for key in self.queues], np.int64
        )
        self.topic_of: Ints = np.array(
            [topic_at[key[:2]] for key in self.queues], np.int64
        )
        self._of_group = {
            name: list(epochs)
            for name, epochs in groupby(self.epochs, lambda each: each[c.GROUP])
        }
        self.spans = self._spans(told)

    def of(self, begin: int, end: int) -> list[Epoch]:
        """Return the epochs of a range of groups."""
        return [
            each
            for name in self.names[begin:end]
            for each in self._of_group.get(name, ())
        ]

    def epoch_names(self, begin: int, end: int) -> EpochNames:
        """Return the names of the epochs of a range of groups."""
        epochs = self.of(begin, end)
        columns = {
            c.GROUP_NO: pa.array(
                [self.at[each[c.GROUP]] for each in epochs], pa.int64()
            ),
            c.CLUSTER: pa.array([each[c.CLUSTER] for each in epochs], pa.string()),
            c.GROUP: pa.array([each[c.GROUP] for each in epochs], pa.string()),
            c.EPOCH: pa.array([each[c.EPOCH] for each in epochs], pa.int64()),
            MEMBER_IDS: pa.array(
                [each[MEMBER_IDS] for each in epochs], pa.list_(pa.string())
            ),
        }
        return EpochNames(pa.table(columns))

    def strategies_in_use(self) -> dict[tuple[int, str], str | None]:
        """Return the strategies that the epochs of each group name, and who said so."""
        found: dict[tuple[int, str], str | None] = {}
        for at, name in enumerate(self.names):
            for epoch in self._of_group.get(name, ()):
                key, source = (at, epoch[c.STRATEGY]), epoch[c.STRATEGY_SOURCE]
                known = [each for each in (found.get(key), source) if each is not None]
                found[key] = max(known, default=None)
        return found

    def _spans(self, told: Iterable[Epoch]) -> Columns:
        """Return when epochs named queues, by the numbers of the queues."""
        rows = [
            (number, epoch[c.EPOCH], epoch[c.BEGAN], NONE if over is None else over)
            for epoch in told
            for over in (epoch[OVER],)
            for number in map(self.number.get, queues_of(epoch))
            if number is not None
        ]
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        return dict(zip((QUEUE, c.EPOCH, BEGAN, OVER), columns, strict=True))


class Divisions:
    """How each candidate would have divided some epochs: a row per epoch and queue.

    A queue with several owners has a row for each of them.
    """

    def __init__(
        self,
        divider: Divider,
        candidates: Sequence[Candidate],
        epochs: Iterable[Epoch],
        number: Mapping[QueueKey, int],
    ) -> None:
        columns: list[list[Any]] = [[] for _name in divider.columns]
        for epoch in epochs:
            for column, values in zip(columns, divider.divide(epoch), strict=True):
                column.extend(values)
        _cluster, group, epoch_no, *queue = columns[:6]
        keys = zip(group, *queue, strict=True)
        self.queue: Ints = np.array([number[key] for key in keys], np.int64)
        self.epoch: Ints = np.array(epoch_no, np.int64)
        count = len(candidates)
        self.owners = {
            each.column: _whole(values)
            for each, values in zip(candidates, columns[6 : 6 + count], strict=True)
        }
        self._moved = {
            each.name: np.array(values, np.float64)
            for each, values in zip(candidates, columns[6 + count :], strict=True)
        }

    def moves(self, group: Ints, groups: int) -> dict[str, Floats]:
        """Count the queues that change hands, by candidate and group of the rows.

        NaN where a candidate could not be computed.
        """
        found = {}
        for name, moved in self._moved.items():
            known = np.bincount(group, ~np.isnan(moved), groups) > 0
            count = np.bincount(group, np.nan_to_num(moved), groups)
            found[name] = np.where(known, count, np.nan)
        return found

    def joined_to(self, queue: Ints, epoch: Ints) -> tuple[Ints, Ints]:
        """Return pairs of places: of the given rows, and of ours with the same key."""
        if not len(self.epoch):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        known = np.unique(self.epoch)
        ours = self.queue * len(known) + np.searchsorted(known, self.epoch)
        order = np.argsort(ours, kind="stable")
        place = np.minimum(np.searchsorted(known, epoch), len(known) - 1)
        theirs = queue * len(known) + place
        begin = np.searchsorted(ours[order], theirs, side="left")
        end = np.searchsorted(ours[order], theirs, side="right")
        count = np.where(known[place] == epoch, end - begin, 0)
        row = np.repeat(np.arange(len(queue)), count)
        copy = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return row, order[begin[row] + copy]


def _whole(places: Sequence[int | None]) -> pa.Array:
    return pa.array(places, pa.int32())


def weights_of(
    steps: Columns, queues: Sequence[QueueKey]
) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return what came into each queue over each epoch, in messages a second."""
    queue, epoch = steps[QUEUE], steps[c.EPOCH]
    begins = np.ones(len(queue), bool)
    begins[1:] = (queue[1:] != queue[:-1]) | (epoch[1:] != epoch[:-1])
    first = np.flatnonzero(begins)
    found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    if not len(first):
        return found
    length = steps[c.SECONDS] + steps[c.UNKNOWN_SECONDS]
    length = np.where(np.isnan(steps[c.IN_RATE]), 0.0, length)
    total = np.add.reduceat(length, first)
    grown = np.add.reduceat(np.nan_to_num(steps[c.IN_RATE]) * length, first)
    for at, number, of, load in zip(
        queue[first].tolist(),
        epoch[first].tolist(),
        total.tolist(),
        grown.tolist(),
        strict=True,
    ):
        group, topic, broker, queue_id = queues[at]
        found[group, number].append(
            {
                c.TOPIC: topic,
                c.BROKER: broker,
                c.QUEUE_ID: queue_id,
                c.LOAD: load / of if of > 0 else None,
            }
        )
    return found
