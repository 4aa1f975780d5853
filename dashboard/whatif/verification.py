"""Compares our division of a group with the broker's own (code 400)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard.gateway.assignments import NoDivisionError, ask_division
from dashboard.gateway.present import cluster_now
from dashboard.live.documents import GroupState
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

from .model import Scenario, division, read_situation


@dataclass(frozen=True, slots=True)
class Difference:
    """A queue that the broker gives to different members than we do."""

    queue: MessageQueue
    ours: Sequence[str]
    brokers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Verification:
    """How the broker's division compares; `problem` says why there is none."""

    strategy: str
    queues: int = 0
    differences: Sequence[Difference] = ()
    problem: str = ""

    @property
    def agrees(self) -> bool:
        return not self.problem and not self.differences


def verify(state: GroupState, strategy: str) -> Verification:
    """Ask a broker for its division of a group as it is, and compare it with ours."""
    cluster = cluster_now(state["cluster"])
    if cluster is None:
        return Verification(strategy, problem=_("This cluster is not configured."))
    try:
        situation = read_situation(state)
        if not situation.complete:
            return Verification(
                strategy, problem=_("Not everything about the group is known.")
            )
        if not (situation.members and situation.queues):
            return Verification(strategy, problem=_("There is nothing to divide."))
        _prepared, plan = division(strategy, situation, Scenario())
        if plan is None:
            return Verification(strategy, problem=_("There is nothing to divide."))
        asked = ask_division(
            cluster,
            situation.group,
            topics=situation.topics,
            client_ids=list(dict.fromkeys(situation.members)),
            strategy=strategy,
        )
    except (ArgumentError, NoDivisionError) as error:
        return Verification(strategy, problem=str(error))
    theirs: dict[MessageQueue, list[str]] = {}
    for client_id in sorted(asked):
        for queue in asked[client_id]:
            theirs.setdefault(queue, []).append(client_id)
    every = sorted_queues({*plan.by_queue, *plan.unassigned, *theirs})
    differences = [
        Difference(queue, plan.owners(queue), tuple(theirs.get(queue, ())))
        for queue in every
        if sorted(plan.owners(queue)) != theirs.get(queue, [])
    ]
    return Verification(strategy, len(every), differences)
