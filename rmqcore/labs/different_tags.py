"""F4: members of one group that subscribe to different tags lose messages (E1-E4).

A broker keeps one subscription per group and topic: the newest, whoever sent it. It
filters for all members with that, while the queues are divided among all. So the member
with the older subscription is given nothing that it wants, and the other one gets only
the messages in its own half. In a broadcasting group each member reads all queues, so
the newer one gets all of its own messages, and the older one still nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from rmqcore.model import MessageModel
from rmqcore.offsets import LocalFileOffsetStore
from rmqcore.timers import Timer

from .lab import Lab, check_range
from .member import Member, Role
from .results import LabResult
from .stage import Stage

TAGS: Final = ("tag1", "tag2")
HOLD_S: Final = 20.0
"""How long a broker may hold a pull that matches nothing before it gives the offset."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many messages each tag gets, spread evenly over the queues."""

    messages_per_tag: int = 10
    queues: int = 2

    def __post_init__(self) -> None:
        check_range("messages_per_tag", self.messages_per_tag, 1, 500)
        check_range("queues", self.queues, 2, 64)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One mode: the tag that the broker filters by, and what each member got."""

    filtered_by: str
    consumed: Mapping[str, int]
    sent: int

    @property
    def never_consumed(self) -> int:
        """Messages that nobody consumed or will consume: the offsets are past them."""
        return self.sent - sum(self.consumed.values())

    @property
    def older(self) -> int:
        """The messages that the member with the older subscription got."""
        return sum(n for tag, n in self.consumed.items() if tag != self.filtered_by)

    @property
    def newer(self) -> int:
        """The messages that the member with the newer subscription got."""
        return self.consumed[self.filtered_by]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentTagsResult(LabResult):
    """The messages consumed in each mode."""

    clustering: Outcome
    broadcasting: Outcome


async def play(stage: Stage, parameters: Parameters) -> DifferentTagsResult:
    """Let two members of a group subscribe to one tag each, in both modes."""
    clustering = await _clustering(stage, parameters)
    broadcasting = await _broadcasting(stage, parameters)
    each = parameters.messages_per_tag
    stage.claim("older", clustering.older == 0)
    stage.claim(
        "newer",
        0 < clustering.newer < each,
        consumed=clustering.newer,
        sent=each,
        tag=clustering.filtered_by,
    )
    stage.claim(
        "lost",
        clustering.never_consumed > each,
        lost=clustering.never_consumed,
        sent=clustering.sent,
    )
    stage.claim("broadcasting", broadcasting.newer == each and not broadcasting.older)
    return DifferentTagsResult(
        evidence=stage.evidence(),
        finding="inconsistent_subscriptions",
        clustering=clustering,
        broadcasting=broadcasting,
    )


async def _clustering(stage: Stage, parameters: Parameters) -> Outcome:
    topic = await stage.topic(parameters.queues, "_clustering")
    members = await _join(stage, topic, {})
    await _send(stage, topic, parameters)
    # Once all offsets are past all messages, no member will be given any more of them.
    await stage.all_committed(f"{topic}_group", topic, members, takes_s=HOLD_S)
    return await _outcome(stage, topic, members)


async def _broadcasting(stage: Stage, parameters: Parameters) -> Outcome:
    topic = await stage.topic(parameters.queues, "_broadcasting")
    options = {
        "message_model": MessageModel.BROADCASTING,
        "offsets_dir": stage.offsets_dir,
    }
    members = await _join(stage, topic, options)
    sent = await _send(stage, topic, parameters)

    async def past_all() -> bool:
        await stage.persist(members)
        totals = [await _file_total(stage, member) for member in members]
        return totals == [sent, sent]

    await stage.until(past_all, "both files past all messages", takes_s=HOLD_S)
    return await _outcome(stage, topic, members)


async def _file_total(stage: Stage, member: Member) -> int:
    store = LocalFileOffsetStore(stage.offsets_dir, member.client_id, member.role.group)
    await store.load()
    return sum(store.loaded.offsets.values())


async def _join(
    stage: Stage, topic: str, options: Mapping[str, Any]
) -> Sequence[Member]:
    members = []
    for number, tag in enumerate(TAGS):
        role = Role(
            f"c{number + 1}",
            f"{topic}_group",
            {topic: tag},
            timers=True,
            options=options,
        )
        members.append(await stage.join(role))
        await stage.rest(topic, members, f"{role.name} joined")
    # A changed part renews a subscription, so either may be the newer one by now. The
    # later member subscribes once more, and the broker hears of both before messages
    # are sent.
    members[-1].consumer.subscribe(topic, TAGS[-1])
    for member in members:
        await member.run_timer(Timer.HEARTBEAT)
    return members


async def _send(stage: Stage, topic: str, parameters: Parameters) -> int:
    for tag in TAGS:
        bodies = [f"{tag}-{number}" for number in range(parameters.messages_per_tag)]
        await stage.send(topic, bodies, tag=tag)
    return len(TAGS) * parameters.messages_per_tag


async def _outcome(stage: Stage, topic: str, members: Sequence[Member]) -> Outcome:
    group = f"{topic}_group"
    known = await stage.admin.consumer_connection(group, await stage.broker_address())
    filtered_by = known.subscriptions[topic].sub_string if known else ""
    stage.tell("filter", tag=filtered_by)
    stage.tell_consumed(members)
    consumed = {
        tag: len(member.given) for tag, member in zip(TAGS, members, strict=True)
    }
    ends = await stage.admin.topic_stats(topic)
    return Outcome(
        filtered_by, consumed, sum(offsets.max_offset for offsets in ends.values())
    )


LAB: Final = Lab(
    "F4",
    "Different tags in one group lose messages",
    ("E1", "E2", "E3"),
    MappingProxyType(
        {
            "filter": "The broker filters for the whole group by {tag}, "
            "the newest subscription.",
            "older": "The member with the older subscription gets none of its own.",
            "newer": "The one with the newer subscription gets {consumed} of {sent} "
            "messages of {tag}: those in the queues it holds.",
            "lost": "{lost} of {sent} messages are never consumed by anybody.",
            "broadcasting": "In a broadcasting group, the newer one gets all its own "
            "and the older one nothing.",
        }
    ),
    Parameters,
    play,
    pace=10.0,
)
