"""The comparison: now, each of RocketMQ's strategies, and the balanced plan.

Pure: a situation and a scenario in, rows out, in a fixed order. "Now" is the division
and the rates as they are, without any edit but the rate a member can take; the other
rows are the edited group, each topic divided apart as RocketMQ does.

Cost: 10,000 queues and 500 members take about half a second for all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.allocation import (
    BALANCED,
    STRATEGIES,
    Plan,
    allocate_topics,
    balanced_plan,
    plan_of_owners,
)
from rmqcore.allocation.machine_room import room_of
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue

from .edits import Note, apply_edits
from .options import prepare
from .rows import Row, figures_of
from .scenario import Scenario, Weighing
from .situation import Situation
from .weights import QueueColumns, columns_of

NOW: Final = "NOW"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a scenario makes of a group under every strategy.

    `before` is the group as it is, `after` with the edits, its queues in `columns`. The
    first row is "now", on the queues of `before`; the last is the balanced plan.
    """

    scenario: Scenario
    before: Situation
    after: Situation
    columns: QueueColumns
    rows: tuple[Row, ...]
    notes: tuple[Note, ...]

    def row(self, key: str) -> Row:
        """Return the row of a strategy's table name, of NOW or of BALANCED."""
        for row in self.rows:
            if row.key == key:
                return row
        raise ArgumentError(
            f"no row {key!r}; there are {', '.join(row.key for row in self.rows)}"
        )


def compare(situation: Situation, scenario: Scenario) -> Comparison:
    """Return every strategy's division of the edited group beside the present one.

    Raise ArgumentError where the scenario asks for more than is allowed; a strategy
    that cannot be computed has a reason in its row instead.
    """
    edited = apply_edits(situation, scenario)
    after = edited.situation
    notes = list(edited.notes)
    now = _now(situation)
    owners = now.by_queue
    present = {state.queue: owners.get(state.queue, ()) for state in situation.queues}
    columns = columns_of(after.queues, present)
    if situation.queues and not any(present.values()):
        notes.append(Note("owners_unknown"))
    rows = [_now_row(now, situation, scenario, present)]
    empty = _why_empty(after)
    if empty:
        rows.extend(Row(key, key, reason=empty) for key in (*STRATEGIES, BALANCED))
    else:
        rows.extend(
            _strategy_row(name, after, scenario, columns) for name in STRATEGIES
        )
        plans = [row.plan for row in rows[1:] if row.plan is not None]
        rows.append(_balanced_row(after, scenario, columns, plans))
    return Comparison(scenario, situation, after, columns, tuple(rows), tuple(notes))


def _now(situation: Situation) -> Plan:
    owners = {state.queue: state.owners for state in situation.queues}
    return plan_of_owners(owners, situation.members, strategy=situation.strategy or NOW)


def _now_row(
    plan: Plan,
    situation: Situation,
    scenario: Scenario,
    present: Mapping[MessageQueue, tuple[str, ...]],
) -> Row:
    rate = (
        situation.member_rate if scenario.member_rate is None else scenario.member_rate
    )
    figures = figures_of(plan, columns_of(situation.queues, present), rate)
    return Row(NOW, plan.strategy, plan, figures)


def _why_empty(situation: Situation) -> Note | None:
    if not situation.members:
        return Note("no_members")
    return None if situation.queues else Note("no_queues")


def _strategy_row(
    name: str,
    situation: Situation,
    scenario: Scenario,
    columns: QueueColumns,
) -> Row:
    try:
        prepared = prepare(name, scenario, situation)
        if prepared.missing:
            reason = _missing(prepared.missing, situation)
            return Row(name, prepared.name, reason=reason)
        plan = allocate_topics(
            prepared.name,
            group=situation.group,
            queues=columns.queues,
            client_ids=situation.members,
            **prepared.options,
        )
    except ArgumentError as error:
        return Row(name, name, reason=Note("refused", (("message", str(error)),)))
    figures = figures_of(plan, columns, situation.member_rate)
    return Row(name, prepared.name, plan, figures, assumed=prepared.assumed)


def _missing(options: tuple[str, ...], situation: Situation) -> Note:
    params = [("options", ", ".join(options))]
    if "rooms" in options:
        params.append(("rooms_seen", ", ".join(_rooms_seen(situation))))
    return Note("needs_options", tuple(params))


def _rooms_seen(situation: Situation) -> list[str]:
    """Return rooms of brokers that are named `room@broker`, for somebody to choose."""
    brokers = {state.queue.broker_name for state in situation.queues}
    return sorted({room for broker in brokers if (room := room_of(broker))})


def _balanced_row(
    situation: Situation,
    scenario: Scenario,
    columns: QueueColumns,
    plans: list[Plan],
) -> Row:
    values: Sequence[float | None] = columns.weights.loads
    if scenario.weighing is Weighing.LAG:
        values = columns.lags
    elif scenario.weighing is Weighing.QUEUES:
        values = (1.0,) * len(columns.queues)
    owners = zip(columns.queues, columns.present, strict=True)
    balanced = balanced_plan(
        dict(zip(columns.queues, values, strict=True)),
        situation.members,
        owners={queue: present for queue, present in owners if present},
        no_worse_than=plans,
    )
    figures = figures_of(balanced.plan, columns, situation.member_rate)
    return Row(BALANCED, BALANCED, balanced.plan, figures)
