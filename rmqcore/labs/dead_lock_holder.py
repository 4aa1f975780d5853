"""F7: an orderly member dies without unlocking (C7, C8, C11).

Two orderly members hold the brokers' locks of their queues. One dies in the middle of
its work. The broker notices the lost connection at once, and the other member asks for
the queues; but their locks are the dead one's for 60 s from the last renewal. They
wait, then move. Messages that were finished and not yet committed are consumed again;
the order of first deliveries holds for every key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.client import ConsumeResult, LockGained
from rmqcore.client.rebalance.rules import BROKER_LOCK_MS
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.timers import Timer

from .lab import Lab, check_range
from .member import Handle, Member, Role, succeed
from .results import Delivery, Division, LabResult
from .stage import Stage

KEYS: Final = tuple("ABCDEFGH")
DONE_BEFORE_DEATH: Final = 2


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many queues there are, and messages of each key before and after."""

    queues: int = 4
    messages_per_key: int = 3

    def __post_init__(self) -> None:
        check_range("queues", self.queues, 2, len(KEYS))
        check_range("messages_per_key", self.messages_per_key, 1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOverResult(LabResult):
    """How long the queues waited (ms), from the last renewal and from the death."""

    waiting: Division
    since_renewal_ms: int
    since_death_ms: int
    repeated: tuple[str, ...]
    out_of_order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Death:
    """When the member last renewed its locks, when it died, and what it left."""

    renewed_ms: int
    died_ms: int
    orphans: tuple[MessageQueue, ...]
    waiting: Division


async def play(stage: Stage, parameters: Parameters) -> TakenOverResult:
    """Let one of two orderly members die at work, and record who consumes what when."""
    topic = await stage.topic(parameters.queues)
    dying, count = _Dying(), parameters.messages_per_key
    stays = await _join(stage, topic, "stays", succeed)
    dies = await _join(stage, topic, "dies", dying.handle)
    await stage.rest(topic, (stays, dies), "joined")
    before, after = _bodies(range(count)), _bodies(range(count, 2 * count))
    await stage.send(topic, before, key_of=_key)
    await stage.all_committed(stage.group(), topic, (stays, dies))

    renewed_ms = stage.clock.time_ms()
    await dies.run_timer(Timer.RENEW_LOCKS)
    dying.begin()
    await stage.send(topic, after, key_of=_key)
    await stage.until(dying.hangs.is_set, "the member to be in the middle of its work")
    death = await _die(stage, topic, stays, dies, renewed_ms)
    moved_ms = await _take_over(stage, stays, death)
    stage.divide(topic, [stays], "locks expired")
    await stage.all_committed(stage.group(), topic, [stays])
    return _judge(stage, death, moved_ms, {*before, *after})


async def _join(stage: Stage, topic: str, name: str, handle: Handle) -> Member:
    role = Role(
        name,
        stage.group(),
        {topic: "*"},
        handle=handle,
        timers=True,
        options={"orderly": True},
    )
    return await stage.join(role)


async def _die(
    stage: Stage, topic: str, stays: Member, dies: Member, renewed_ms: int
) -> _Death:
    orphans = dies.queues(topic)
    died_ms = stage.clock.time_ms()
    await stage.die(dies)
    waiting = stage.divide(topic, [stays], "died")
    stage.tell("waiting", queues=[q.queue_id for q in orphans], expiry_s=_EXPIRY_S)
    return _Death(renewed_ms, died_ms, orphans, waiting)


async def _take_over(stage: Stage, stays: Member, death: _Death) -> int:
    """Wait until the queues have moved; return when the last lock was gained (ms)."""
    orphans = set(death.orphans)
    await stage.until(
        lambda: orphans <= set(stays.consumer.queues),
        "the locks to expire",
        takes_s=_EXPIRY_S,
    )
    moved_ms = max(
        event.at_ms
        for event in stays.events
        if isinstance(event, LockGained) and event.queue in orphans
    )
    stage.tell("moved", seconds=round((moved_ms - death.died_ms) / 1000, 1))
    return moved_ms


def _judge(
    stage: Stage, death: _Death, moved_ms: int, sent: set[str]
) -> TakenOverResult:
    evidence = stage.evidence()
    counts = evidence.times_consumed
    repeated = tuple(body for body, times in counts.items() if times > 1)
    out_of_order = tuple(_out_of_order(evidence.deliveries))
    since_renewal_ms = moved_ms - death.renewed_ms
    unowned = death.waiting.unowned == list(death.orphans)
    stage.claim("waits", since_renewal_ms >= BROKER_LOCK_MS, expiry_s=_EXPIRY_S)
    stage.claim("unowned", unowned, count=len(death.orphans))
    stage.claim("nothing_lost", counts.keys() == sent, repeated=len(repeated))
    stage.claim("order", not out_of_order, keys=len(KEYS))
    return TakenOverResult(
        evidence=stage.evidence(),
        finding="lock_expired",
        waiting=death.waiting,
        since_renewal_ms=since_renewal_ms,
        since_death_ms=moved_ms - death.died_ms,
        repeated=repeated,
        out_of_order=out_of_order,
    )


class _Dying:
    """A listener that, on request, finishes some messages and then hangs."""

    def __init__(self) -> None:
        self.hangs = asyncio.Event()
        self._begun = False
        self._done = 0

    def begin(self) -> None:
        """Hang after some more messages; `hangs` is set then."""
        self._begun = True

    async def handle(self, message: MessageExt) -> ConsumeResult:
        """Consume a message, or hang on it until cancelled."""
        if self._begun:
            self._done += 1
            if self._done > DONE_BEFORE_DEATH:
                self.hangs.set()
                await asyncio.Event().wait()
        return ConsumeResult.SUCCESS


_EXPIRY_S: Final = BROKER_LOCK_MS / 1000


def _bodies(numbers: Sequence[int]) -> list[str]:
    return [f"{key}{number}" for number in numbers for key in KEYS]


def _key(body: str) -> str:
    return body[0]


def _out_of_order(deliveries: Iterable[Delivery]) -> Iterable[str]:
    """Yield the bodies that were first delivered before an earlier one of their key."""
    expected = dict.fromkeys(KEYS, 0)
    seen = set()
    for delivery in deliveries:
        body = delivery.body
        if body in seen:
            continue
        seen.add(body)
        if int(body[1:]) != expected[_key(body)]:
            yield body
        expected[_key(body)] = int(body[1:]) + 1


LAB: Final = Lab(
    "F7",
    "An orderly member dies with its locks",
    ("C7", "C8", "C11"),
    MappingProxyType(
        {
            "waiting": "Queues {queues} wait: the dead member keeps their locks for "
            "{expiry_s:.0f} s after the last renewal.",
            "moved": "The queues moved {seconds} s after the death.",
            "waits": "The queues wait until the locks at the broker expire, "
            "{expiry_s:.0f} s after the last renewal.",
            "unowned": "Until then nobody holds the {count} queues.",
            "nothing_lost": "Nothing is lost; {repeated} messages that were not yet "
            "committed are consumed again.",
            "order": "The first deliveries of each of the {keys} keys are in order.",
        }
    ),
    Parameters,
    play,
    pace=15.0,
)
