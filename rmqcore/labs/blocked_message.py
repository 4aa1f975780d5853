"""F6: one unfinished message holds the commit back (C5, C6).

One queue, one member. The listener hangs on one message while all later ones are
finished: the committed offset stays at that message, however far the member has come.
When the span from it to the newest message passes the limit, flow control stops pulling
until the newer ones are finished, since the span is that of the messages in hand. Once
the message is finished, the commit jumps to the end.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.client import ConsumeResult, Event, PullDelayed
from rmqcore.client.membership.process_queue import QueueLimits
from rmqcore.model import MessageExt

from .lab import Lab, check_range
from .member import Member, Role
from .results import LabResult
from .stage import Stage

BATCH: Final = 100
SPAN_LIMIT: Final = QueueLimits().max_span or 0
PULLED_AT_ONCE: Final = 32
_SPAN: Final = re.compile(r"span of (\d+) offsets")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which message blocks, and how many there are: enough to pass the limit."""

    blocked: int = 10
    messages: int = SPAN_LIMIT + 100

    def __post_init__(self) -> None:
        check_range("blocked", self.blocked, 0, 50)
        check_range("messages", self.messages, SPAN_LIMIT + 100, 20_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedResult(LabResult):
    """Offsets while the message blocked: committed, furthest in hand, and their number.

    The furthest is the one at the moment when pulling stopped for the first time.
    """

    blocked: int
    committed: int | None
    furthest: int
    in_hand: int
    delay_reason: str
    committed_after: int


class _Hanging:
    """A listener that hangs on one offset until it is released."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._released = asyncio.Event()

    def release(self) -> None:
        """Return from the message."""
        self._released.set()

    async def handle(self, message: MessageExt) -> ConsumeResult:
        """Consume a message, or hang on it."""
        if message.queue_offset == self._offset:
            await self._released.wait()
        return ConsumeResult.SUCCESS


async def play(stage: Stage, parameters: Parameters) -> BlockedResult:
    """Make a listener hang on one message, and look at the commit."""
    hanging = _Hanging(parameters.blocked)
    try:
        return await _play(stage, parameters, hanging)
    finally:
        hanging.release()


async def _play(
    stage: Stage, parameters: Parameters, hanging: _Hanging
) -> BlockedResult:
    group, topic = stage.group(), await stage.topic(1)
    role = Role("c1", group, {topic: "*"}, handle=hanging.handle)
    member = await stage.join(role)
    await stage.rest(topic, [member], "joined")
    await _send(stage, topic, parameters.messages)

    in_hand = 0

    async def only_one_left() -> bool:
        nonlocal in_hand
        in_hand = await _in_hand(stage, member)
        return in_hand == 1 and _first_stop(member.events) is not None

    await stage.until(only_one_left, "flow control, and all later messages done")
    span, reason = _first_stop(member.events) or (0, "")
    furthest = parameters.blocked + span
    stage.tell("blocked", offset=parameters.blocked, furthest=furthest)
    stage.tell("delayed", reason=reason)
    held = await stage.persisted(
        group, topic, [member], parameters.blocked, "one message blocked"
    )
    committed = held.queues[0].committed

    hanging.release()
    stage.tell("released", offset=parameters.blocked)
    after = await stage.all_committed(group, topic, [member])
    stops = SPAN_LIMIT < span <= SPAN_LIMIT + PULLED_AT_ONCE
    stage.claim("held_back", committed == parameters.blocked, offset=parameters.blocked)
    stage.claim("flow_control", stops, limit=SPAN_LIMIT)
    stage.claim("jumps", after.committed == parameters.messages, end=after.committed)
    return BlockedResult(
        evidence=stage.evidence(),
        finding="stuck_commit",
        blocked=parameters.blocked,
        committed=committed,
        furthest=furthest,
        in_hand=in_hand,
        delay_reason=reason,
        committed_after=after.committed,
    )


async def _send(stage: Stage, topic: str, messages: int) -> None:
    (queue,) = stage.queues(topic)
    for first in range(0, messages, BATCH):
        numbers = range(first, min(first + BATCH, messages))
        await stage.send_batch(queue, [str(number) for number in numbers])
    stage.tell("sent", topic=topic, count=messages)


async def _in_hand(stage: Stage, member: Member) -> int:
    """Return how many messages the member holds, as it reports itself (307)."""
    info = await stage.admin.running_info(
        member.role.group, member.client_id, await stage.broker_address()
    )
    return sum(
        queue.cached_msg_count
        for name, queue in info.queues.items()
        if name.topic in member.role.subscriptions
    )


def _first_stop(events: Sequence[Event]) -> tuple[int, str] | None:
    """Return the span at which pulling first stopped, and the reason that was reported.

    Before that, other limits may hold a slow listener's pulls back.
    """
    for event in events:
        if isinstance(event, PullDelayed) and (found := _SPAN.match(event.reason)):
            return int(found[1]), event.reason
    return None


LAB: Final = Lab(
    "F6",
    "One blocked message holds back the commit",
    ("C5", "C6"),
    MappingProxyType(
        {
            "blocked": "The listener hangs on offset {offset}; later messages are "
            "finished, up to offset {furthest}.",
            "delayed": "Flow control stops pulling: {reason}.",
            "released": "The listener comes back from offset {offset}.",
            "held_back": "The commit stays at {offset}, the message that is not "
            "finished.",
            "flow_control": "Pulling stops when the newest and the oldest message in "
            "hand are more than {limit} offsets apart.",
            "jumps": "Once it is finished, the commit jumps to the end, {end}.",
        }
    ),
    Parameters,
    play,
)
