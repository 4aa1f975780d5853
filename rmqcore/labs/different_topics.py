"""F4b: members of one group that subscribe to different topics (E4, E6).

A heartbeat removes every topic that it does not list from the group's table, so the
table flips with each member's heartbeat, all members are notified each time, and pulls
fail while their topic is missing. And each topic is divided among all members of the
group: the part of a member that does not subscribe to it is never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.model import MessageQueue
from rmqcore.model.topic import RETRY_PREFIX
from rmqcore.timers import Timer

from .lab import Lab, check_range
from .member import Member, Role
from .results import LabResult
from .stage import Stage

LOOKS: Final = 5


@dataclass(frozen=True, slots=True)
class Parameters:
    """The numbers of queues of each topic, messages in each, and heartbeats watched."""

    queues: int = 8
    messages_per_queue: int = 2
    heartbeats: int = 6

    def __post_init__(self) -> None:
        check_range("queues", self.queues, 2, 64)
        check_range("messages_per_queue", self.messages_per_queue, 1, 100)
        check_range("heartbeats", self.heartbeats, 2, 50)


@dataclass(frozen=True, slots=True)
class Flip:
    """One heartbeat: the topics that the broker knew after it, and the notices.

    `notices` are those that came with it, by member in the order of joining.
    """

    member: str
    topics: tuple[str, ...]
    notices: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentTopicsResult(LabResult):
    """The heartbeats watched, the queues without a reader, and the messages there."""

    flips: tuple[Flip, ...]
    unread: tuple[MessageQueue, ...]
    waiting: int


async def play(stage: Stage, parameters: Parameters) -> DifferentTopicsResult:
    """Let two members of a group subscribe to one topic each."""
    group, count = stage.group(), parameters.queues * parameters.messages_per_queue
    topics = [await stage.topic(parameters.queues, f"_{name}") for name in ("T1", "T2")]
    members = [
        await stage.join(Role(f"c{number + 1}", group, {topic: "*"}))
        for number, topic in enumerate(topics)
    ]
    unread = await _unread(stage, topics, members, "both joined")
    for topic in topics:
        await stage.send(topic, [f"{topic}-{number}" for number in range(count)])
    reached = [
        len(member.queues(topic)) * parameters.messages_per_queue
        for member, topic in zip(members, topics, strict=True)
    ]
    await stage.until(
        lambda: [len(member.given) for member in members] == reached,
        "both to consume what is in their part of their topic",
    )
    stage.tell_consumed(members)
    flips = [
        await _flip(stage, group, members, members[number % len(members)])
        for number in range(parameters.heartbeats)
    ]
    still = await _unread(stage, topics, members, "heartbeats")
    progress = [
        await stage.persisted(group, topic, members, part, "heartbeats")
        for topic, part in zip(topics, reached, strict=True)
    ]
    waiting = sum(each.end - each.committed for each in progress)

    half = len(unread) == parameters.queues
    expected = len(unread) * parameters.messages_per_queue
    stage.claim("flips", all(_is_alone(f, members) for f in flips), count=len(flips))
    stage.claim("notices", all(min(flip.notices) >= 1 for flip in flips))
    stage.claim("unread", half and still == unread, count=len(unread))
    stage.claim("waits", waiting == expected, count=waiting)
    return DifferentTopicsResult(
        evidence=stage.evidence(),
        finding="different_topics",
        flips=tuple(flips),
        unread=unread,
        waiting=waiting,
    )


async def _unread(
    stage: Stage, topics: Sequence[str], members: Sequence[Member], after: str
) -> tuple[MessageQueue, ...]:
    divisions = [await stage.rest(topic, members, after) for topic in topics]
    return tuple(queue for division in divisions for queue in division.unowned)


async def _flip(
    stage: Stage, group: str, members: Sequence[Member], sender: Member
) -> Flip:
    """Let one member send its heartbeat, and return its effect.

    Checks again when the effect is not as expected: a member whose pull failed sends
    heartbeats, too, and one of them may come between the heartbeat and the check.
    """
    flip = await _beat(stage, group, members, sender)
    for _ in range(LOOKS - 1):
        if _is_alone(flip, members):
            break
        flip = await _beat(stage, group, members, sender)
    notices = ", ".join(
        f"{member.name} {count}"
        for member, count in zip(members, flip.notices, strict=True)
    )
    topics = ", ".join(flip.topics)
    stage.tell("heartbeat", member=sender.name, topics=topics, notices=notices)
    return flip


async def _beat(
    stage: Stage, group: str, members: Sequence[Member], sender: Member
) -> Flip:
    # The other member's topic has to be in the table before, or nothing would change.
    for member in members:
        if member is not sender:
            await member.run_timer(Timer.HEARTBEAT)
    before = [member.notices for member in members]
    await sender.run_timer(Timer.HEARTBEAT)
    known = await stage.admin.consumer_connection(group, await stage.broker_address())
    subscribed = known.subscriptions if known else ()
    await stage.until(
        lambda: all(m.notices > n for m, n in zip(members, before, strict=True)),
        "the notices that follow a heartbeat",
    )
    return Flip(
        sender.name,
        tuple(t for t in sorted(subscribed) if not t.startswith(RETRY_PREFIX)),
        tuple(m.notices - n for m, n in zip(members, before, strict=True)),
    )


def _is_alone(flip: Flip, members: Sequence[Member]) -> bool:
    (sender,) = (member for member in members if member.name == flip.member)
    return flip.topics == tuple(sender.role.subscriptions)


LAB: Final = Lab(
    "F4b",
    "Different topics in one group: queues without a reader",
    ("E4", "E6"),
    MappingProxyType(
        {
            "heartbeat": "Heartbeat of {member}: the broker now knows {topics} only; "
            "notices: {notices}.",
            "flips": "Each of {count} heartbeats leaves the sender's topic alone in "
            "the group's table.",
            "notices": "Each of them makes the broker notify both members, which "
            "rebalance.",
            "unread": "{count} queues, half of each topic, belong to a member that "
            "does not subscribe to them, so they are never read.",
            "waits": "{count} messages wait there.",
        }
    ),
    Parameters,
    play,
)
