"""Who would have owned what in an epoch, by each candidate; plain Python, no Spark.

A candidate is one of RocketMQ's strategies, the one in use with members more or fewer,
or the balanced plan. Owners are told as places in the epoch's list of member ids, which
members that are only imagined follow. A queue without an owner has none, and so has
every queue where a candidate cannot be computed (options that nobody entered, a class
of somebody's own).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from analytics import contracts as c
from analytics.errors import JobError
from rmqcore.allocation import (
    BALANCED,
    allocate_topics,
    balanced_plan,
    make_strategy,
)
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids

WITHOUT_OPTIONS: Final = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""Strategies that need nothing but members and queues."""

IN_USE: Final = c.IN_USE
"""Stands for the strategy that the epoch itself names."""

MEMBER_IDS: Final = "member_ids"
WEIGHTS: Final = "weights"

Owners: TypeAlias = Mapping[MessageQueue, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to divide; `added` members more than there were, or fewer when negative.

    `options` are JSON, as `options_from` reads them.
    """

    name: str
    strategy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    added: int = 0

    @property
    def column(self) -> str:
        """The column that holds this candidate's owners."""
        return f"owner_{self.name}"


def candidates_of(
    options: Mapping[str, Mapping[str, Any]], added: Sequence[int] = ()
) -> list[Candidate]:
    """Return the candidates of a job, those in fixed order first.

    `options` names further strategies with their options, `added` numbers of members
    to add to, or take from, the strategy in use. Raises `JobError` for options that
    the strategy does not take.
    """
    found = [Candidate(name, name, options.get(name, {})) for name in WITHOUT_OPTIONS]
    further = sorted(set(options) - set(WITHOUT_OPTIONS))
    found += [Candidate(name, name, options[name]) for name in further]
    for candidate in found:
        try:
            make_strategy(candidate.strategy, options_from(candidate.options))
        except ArgumentError as error:
            raise JobError(f"options of {candidate.name}: {error}") from error
    found += [Candidate(f"{IN_USE}{n:+d}", IN_USE, added=n) for n in sorted(added)]
    return [*found, Candidate(BALANCED, BALANCED), Candidate(IN_USE, IN_USE)]


def options_from(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a strategy's options from JSON: lists of a CONFIG become queues.

    `{"config": {client id: [[topic, broker, queue id], …]}}`; all others are taken as
    they are, so rooms are lists, and rooms of brokers and clients mappings.
    """
    options = dict(document)
    config = options.get("config")
    if isinstance(config, Mapping):
        options["config"] = {
            client_id: [MessageQueue(*queue) for queue in queues]
            for client_id, queues in config.items()
        }
    return options


class Divider:
    """Divides the epochs of groups, those of one group in order.

    The balanced plan starts from that of the epoch before, as an operator would who
    keeps to it; only the first starts from the owners of the strategy in use.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = list(candidates)
        self._group: tuple[str, str] | None = None
        self._balanced: Owners | None = None

    def rows(self, epoch: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return a row per queue, and per owner where a queue has several."""
        group = (epoch[c.CLUSTER], epoch[c.GROUP])
        if group != self._group:
            self._group, self._balanced = group, None
        queues = [
            MessageQueue(queue[c.TOPIC], queue[c.BROKER], queue[c.QUEUE_ID])
            for queue in epoch[c.QUEUES]
        ]
        ids = list(epoch[MEMBER_IDS])
        shares: dict[MessageQueue, dict[str, list[int]]] = {q: {} for q in queues}
        for candidate in self._candidates:
            members = _with(ids, candidate.added)
            place = {member: number for number, member in enumerate(members)}
            for queue, owners in self._owners(
                epoch, candidate, queues, members
            ).items():
                if queue in shares:
                    shares[queue][candidate.column] = [place[owner] for owner in owners]
        keys = {name: epoch[name] for name in (c.CLUSTER, c.GROUP, c.EPOCH)}
        return [row for each in shares.items() for row in _rows_of(keys, *each)]

    def _owners(
        self,
        epoch: Mapping[str, Any],
        candidate: Candidate,
        queues: Sequence[MessageQueue],
        members: Sequence[str],
    ) -> Owners:
        if not members:
            return {}
        try:
            if candidate.strategy == BALANCED:
                return self._balance(epoch, queues, members)
            return _divided(epoch, candidate, queues, members)
        except (ArgumentError, ValueError, TypeError):
            # Options that nobody entered or that fit another epoch: no comparison.
            return {}

    def _balance(
        self,
        epoch: Mapping[str, Any],
        queues: Sequence[MessageQueue],
        members: Sequence[str],
    ) -> Owners:
        known = {
            MessageQueue(each[c.TOPIC], each[c.BROKER], each[c.QUEUE_ID]): each[c.LOAD]
            for each in epoch[WEIGHTS] or ()
        }
        before = self._balanced
        if before is None:
            before = _divided(epoch, Candidate(IN_USE, IN_USE), queues, members)
        weights = {queue: known.get(queue) for queue in queues}
        self._balanced = balanced_plan(weights, members, owners=before).plan.by_queue
        return self._balanced


def _divided(
    epoch: Mapping[str, Any],
    candidate: Candidate,
    queues: Sequence[MessageQueue],
    members: Sequence[str],
) -> Owners:
    strategy, options = candidate.strategy, candidate.options
    if strategy == IN_USE:
        strategy = epoch[c.STRATEGY]
        options = json.loads(epoch[c.OPTIONS] or "{}")
    plan = allocate_topics(
        strategy,
        group=epoch[c.GROUP],
        queues=queues,
        client_ids=members,
        **options_from(options),
    )
    return plan.by_queue


def _with(ids: Sequence[str], added: int) -> list[str]:
    """Return member ids with some more, which stand last, or without the last ones."""
    if added >= 0:
        return [*ids, *(f"~added-{number:03d}" for number in range(added))]
    return sorted_client_ids(ids)[:added]


def _rows_of(
    keys: Mapping[str, Any], queue: MessageQueue, places: Mapping[str, Sequence[int]]
) -> list[dict[str, Any]]:
    rows = []
    for number in range(max(map(len, places.values()), default=1)):
        owned = {
            column: each[number]
            for column, each in places.items()
            if number < len(each)
        }
        rows.append(
            {
                **keys,
                c.TOPIC: queue.topic,
                c.BROKER: queue.broker_name,
                c.QUEUE_ID: queue.queue_id,
                **owned,
            }
        )
    return rows
