"""Rows of the form of a scenario: members, places of queues and topics, as edited.

A form cannot hold thousands of fields. Edits beyond its first rows are kept in hidden
fields, so that sending the form loses nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from dashboard.fleet.joining import next_members
from dashboard.models import ManagedGroup
from dashboard.wording.names import label_of
from rmqcore.allocation.machine_room import room_of

from .desired import with_known_options
from .model import (
    Comparison,
    Scenario,
    Situation,
    joined,
)

MEMBERS: Final = 60
PLACES: Final = 40
TOPICS: Final = 20
NEW_MEMBERS: Final = 64


@dataclass(frozen=True, slots=True)
class FormMember:
    """A present member, with the edits made to it."""

    client_id: str
    leaves: bool
    new_name: str
    room: str


@dataclass(frozen=True, slots=True)
class FormAdded:
    """A member that the scenario adds, and the machine room chosen for it."""

    client_id: str
    room: str


@dataclass(frozen=True, slots=True)
class FormPlace:
    """A topic on a broker: queues now, and the number entered, if any."""

    key: str
    topic: str
    broker: str
    queues: int
    entered: int | None


@dataclass(frozen=True, slots=True)
class FormTopic:
    """A topic: what arrives now per second, and the rate entered, if any."""

    key: str
    topic: str
    rate: float | None
    entered: float | None


@dataclass(frozen=True, slots=True)
class FormBroker:
    """A broker and its machine room, if one was entered."""

    key: str
    broker: str
    room: str


@dataclass(frozen=True, slots=True)
class FormRows:
    """Rows of the form; `hidden` are fields (name, value) kept without a row.

    `rooms` are those entered for MACHINE_ROOM, `known_rooms` all that a member can be
    put into: of brokers named `room@broker`, and those that the scenario names.
    """

    members: Sequence[FormMember]
    added: Sequence[FormAdded]
    places: Sequence[FormPlace]
    topics: Sequence[FormTopic]
    brokers: Sequence[FormBroker]
    hidden: Sequence[tuple[str, str]]
    rooms: str
    known_rooms: Sequence[str]


def form_rows(comparison: Comparison) -> FormRows:
    """Return the rows of the form for a comparison's scenario."""
    scenario = comparison.scenario
    rooms = dict(scenario.client_rooms.named)
    renamed = dict(scenario.rename)
    leaving = set(scenario.remove)
    members = [
        FormMember(
            client_id,
            client_id in leaving,
            renamed.get(client_id, ""),
            rooms.get(client_id, ""),
        )
        for client_id in dict.fromkeys(comparison.before.members)
    ]
    places = _places(comparison)
    topics = _topics(comparison)
    hidden = [pair for member in members[MEMBERS:] for pair in _member_fields(member)]
    hidden.extend(
        (f"q/{place.key}", str(place.entered))
        for place in places[PLACES:]
        if place.entered is not None
    )
    hidden.extend(
        (f"t/{topic.key}", repr(topic.entered))
        for topic in topics[TOPICS:]
        if topic.entered is not None
    )
    brokers = _brokers(comparison)
    hidden.extend(
        (f"B/{broker.key}", broker.room) for broker in brokers[PLACES:] if broker.room
    )
    return FormRows(
        members[:MEMBERS],
        [FormAdded(each, rooms.get(each, "")) for each in scenario.add],
        places[:PLACES],
        topics[:TOPICS],
        brokers[:PLACES],
        hidden,
        ", ".join(scenario.rooms),
        _known_rooms(comparison),
    )


def known_scenario(
    scenario: Scenario, hosted: ManagedGroup | None, situation: Situation
) -> Scenario:
    """Return a scenario completed with the known options of a hosted group."""
    if hosted is None:
        return scenario
    return with_known_options(
        scenario,
        group=hosted.name,
        strategy=hosted.strategy,
        options=hosted.strategy_options,
        client_ids=(*situation.members, *scenario.add),
    )


def new_members(comparison: Comparison, hosted: ManagedGroup | None) -> list[str]:
    """Return client ids for members to be added, beyond those added already.

    In a hosted group they are the ids that new members will have.
    """
    scenario = comparison.scenario
    wanted = len(scenario.add) + NEW_MEMBERS
    ids = _free_ids(comparison.before, hosted, wanted)
    return [each for each in ids if each not in scenario.add]


def first_members(situation: Situation, hosted: ManagedGroup | None) -> tuple[str, ...]:
    """Return new members for a group in which nobody is online, else none.

    They are three, or two where a third would have no queue.
    """
    if situation.members or not situation.queues:
        return ()
    count = 3 if len(situation.queues) >= 3 else 2
    return tuple(_free_ids(situation, hosted, count)[:count])


def _free_ids(
    situation: Situation, hosted: ManagedGroup | None, count: int
) -> list[str]:
    if hosted is None:
        ids = [f"new-{number:02}@1" for number in range(1, count + 1)]
    else:
        numbers = list(hosted.members.values_list("number", flat=True))
        ids = next_members(hosted.name, numbers, situation.members, count)
    return [each for each in ids if each not in situation.members]


def new_labels(client_ids: Iterable[str], present: Mapping[str, str]) -> dict[str, str]:
    """Return labels of client ids without one, as the collector makes them.

    If a label would stand for several members, they keep their whole ids.
    """
    added = [each for each in client_ids if each not in present]
    labels = {client_id: label_of(client_id) for client_id in added}
    counts = Counter([*labels.values(), *present.values()])
    return {
        client_id: label if counts[label] == 1 else client_id
        for client_id, label in labels.items()
    }


def _known_rooms(comparison: Comparison) -> list[str]:
    scenario = comparison.scenario
    brokers = {state.queue.broker_name for state in comparison.after.queues}
    named = (*scenario.broker_rooms.named, *scenario.client_rooms.named)
    rooms = {
        *(room_of(broker) for broker in brokers),
        *(room for _name, room in named),
        *scenario.rooms,
    }
    return sorted(room for room in rooms if room)


def _member_fields(member: FormMember) -> list[tuple[str, str]]:
    key = joined(member.client_id)
    fields = [("r", member.client_id)] if member.leaves else []
    if member.new_name:
        fields.append((f"m/{key}", member.new_name))
    if member.room:
        fields.append((f"C/{key}", member.room))
    return fields


def _places(comparison: Comparison) -> list[FormPlace]:
    now = Counter(
        (state.queue.topic, state.queue.broker_name)
        for state in comparison.before.queues
    )
    entered = {
        (each.topic, each.broker_name): each.count
        for each in comparison.scenario.queue_counts
    }
    return [
        FormPlace(joined(*place), *place, now.get(place, 0), entered.get(place))
        for place in sorted({*now, *entered})
    ]


def _topics(comparison: Comparison) -> list[FormTopic]:
    entered = dict(comparison.scenario.rates)
    rates: dict[str, list[float | None]] = {}
    for state in comparison.before.queues:
        rates.setdefault(state.queue.topic, []).append(state.rate_in)
    topics = sorted({*rates, *entered, *comparison.after.topics})
    return [
        FormTopic(joined(topic), topic, _sum(rates.get(topic)), entered.get(topic))
        for topic in topics
    ]


def _brokers(comparison: Comparison) -> list[FormBroker]:
    named = dict(comparison.scenario.broker_rooms.named)
    brokers = {state.queue.broker_name for state in comparison.after.queues}
    return [
        FormBroker(joined(broker), broker, named.get(broker, ""))
        for broker in sorted({*brokers, *named})
    ]


def _sum(rates: Sequence[float | None] | None) -> float | None:
    if not rates or None in rates:
        return None
    return fsum(rate for rate in rates if rate is not None)
