"""F3 and F3b: two processes with one client id (A4, A5, A5b).

Broadcasting members keep the instance name DEFAULT, so two on one host share a client
id, and with it the file of their offsets: messages that one consumes while the other is
away never reach the other. In a clustering group with one name for two processes, both
compute the part of the first: half of the queues are consumed twice, half by neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.model import MessageModel

from .lab import Lab, check_range
from .member import Member, Role
from .results import Division, LabResult
from .stage import Stage

BROADCAST_QUEUES: Final = 4
FINDING: Final = "shared_client_id"


@dataclass(frozen=True, slots=True)
class BroadcastingParameters:
    """How many messages come while one of the two is away."""

    messages: int = 10

    def __post_init__(self) -> None:
        check_range("messages", self.messages, 1, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedResult(LabResult):
    """The messages that the absent member never got, and the broker's list of both."""

    missed: tuple[str, ...]
    listed: tuple[str, ...]


async def play_broadcasting(
    stage: Stage, parameters: BroadcastingParameters
) -> MissedResult:
    """Let one of two broadcasting members go away and come back."""
    group, topic = stage.group(), await stage.topic(BROADCAST_QUEUES)
    options = {
        "message_model": MessageModel.BROADCASTING,
        "offsets_dir": stage.offsets_dir,
    }
    roles = [
        Role(name, group, {topic: "*"}, instance="DEFAULT", options=options)
        for name in ("stays", "returns")
    ]
    stays, goes = [await stage.join(role) for role in roles]
    await stage.rest(topic, (stays, goes), "joined")
    listed = tuple(await stage.admin.client_ids(group, await stage.broker_address()))
    stage.tell("listed", count=len(listed), client_id=listed[0])

    await _send_to(stage, topic, "first", BROADCAST_QUEUES, (stays, goes))
    await stage.leave(goes)
    between = await _send_to(stage, topic, "between", parameters.messages, (stays,))
    await stage.persist([stays])
    file = await stage.offsets_file(stays, "consumed by the one that stays")
    stage.tell("file_moved", total=file.total)

    both = (stays, await stage.join(roles[1]))
    await stage.rest(topic, both, "came back")
    # One on each queue: once these have come, earlier messages have come, or never
    # will.
    last = await _send_to(stage, topic, "last", BROADCAST_QUEUES, both)
    stage.tell_consumed(both)
    came = both[1].bodies
    missed = tuple(body for body in between if body not in came)
    stage.claim("missed", len(missed) == len(between), count=len(missed))
    stage.claim("goes_on", sorted(came) == sorted(last))
    stage.claim("one_id", len(listed) == 2 and len(set(listed)) == 1)
    return MissedResult(
        evidence=stage.evidence(), finding=FINDING, missed=missed, listed=listed
    )


async def _send_to(
    stage: Stage, topic: str, name: str, count: int, members: Sequence[Member]
) -> list[str]:
    """Send messages and wait until each of these members was given all of them."""
    bodies = [f"{name}-{number}" for number in range(count)]
    await stage.send(topic, bodies)
    await stage.until(
        lambda: all(set(bodies) <= set(member.bodies) for member in members),
        f"the messages {name} to be consumed",
    )
    return bodies


@dataclass(frozen=True, slots=True)
class ClusteringParameters:
    """How many queues there are, and messages in each."""

    queues: int = 8
    messages_per_queue: int = 2

    def __post_init__(self) -> None:
        check_range("queues", self.queues, 2, 64)
        check_range("messages_per_queue", self.messages_per_queue, 1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedHalfResult(LabResult):
    """The division while both ran, and messages by how often they were consumed."""

    division: Division
    twice: tuple[str, ...]
    waiting: tuple[str, ...]
    listed: tuple[str, ...]


async def play_clustering(
    stage: Stage, parameters: ClusteringParameters
) -> SharedHalfResult:
    """Let two processes with one client id join a clustering group."""
    group, topic = stage.group(), await stage.topic(parameters.queues)
    roles = [
        Role(name, group, {topic: "*"}, instance="same")
        for name in ("process-1", "process-2")
    ]
    members = [await stage.join(role) for role in roles]
    division = await stage.rest(topic, members, "joined")
    listed = tuple(await stage.admin.client_ids(group, await stage.broker_address()))
    stage.tell("listed", count=len(listed), client_id=listed[0])

    count = parameters.queues * parameters.messages_per_queue
    bodies = [f"message-{number}" for number in range(count)]
    await stage.send(topic, bodies)
    held = len(division.parts[0].queues) * parameters.messages_per_queue
    await stage.until(
        lambda: all(len(member.given) >= held for member in members),
        "both to consume the half they hold",
    )
    await stage.persist(members)
    await stage.progress(group, topic, "consumed")
    stage.tell_consumed(members)
    counts = stage.evidence().times_consumed
    twice = tuple(body for body in bodies if counts[body] == 2)
    waiting = tuple(body for body in bodies if not counts[body])

    await stage.leave(members[1])
    await stage.rest(topic, members[:1], "one left")
    await stage.all_committed(group, topic, members[:1])
    caught_up = set(waiting) <= set(members[0].bodies)

    same = division.parts[0].queues == division.parts[1].queues
    stage.claim("same_half", same, queues=len(division.shared))
    stage.claim("twice", len(twice) == held, count=len(twice), total=count)
    stage.claim("nobody", len(waiting) == count - held, count=len(waiting))
    stage.claim("until", waiting and caught_up)
    return SharedHalfResult(
        evidence=stage.evidence(),
        finding=FINDING,
        division=division,
        twice=twice,
        waiting=waiting,
        listed=listed,
    )


_LISTED: Final = "The broker lists {count} members; their client id is {client_id}."

BROADCASTING: Final = Lab(
    "F3",
    "Broadcasting members that share a client id miss messages",
    ("A4", "A5"),
    MappingProxyType(
        {
            "listed": _LISTED,
            "file_moved": "The file they share has come to {total} messages.",
            "missed": "The member that was away misses {count} messages: the other "
            "one moved the shared offsets past them.",
            "goes_on": (
                "Once it is back, it continues with the messages that come from "
                "then on."
            ),
            "one_id": (
                "On the same host and with the same instance name they have the "
                "same client id."
            ),
        }
    ),
    BroadcastingParameters,
    play_broadcasting,
)

CLUSTERING: Final = Lab(
    "F3b",
    "Two processes with one client id take the same half",
    ("A4", "A5b"),
    MappingProxyType(
        {
            "listed": _LISTED,
            "same_half": "Both compute the share of the first of the two, and hold the "
            "same {queues} queues.",
            "twice": "{count} of {total} messages are consumed twice.",
            "nobody": "{count} messages wait: nobody holds their queues.",
            "until": "They are consumed once one of the two has left.",
        }
    ),
    ClusteringParameters,
    play_clustering,
)
