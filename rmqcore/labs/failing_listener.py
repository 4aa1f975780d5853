"""F8: a message that fails comes again, later each time, until it is given up (C4).

The message goes back to the broker, waits there for the delay of its level, and comes
again through the retry topic of the group; after the last try it is put among the dead
letters, where nobody consumes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from rmqcore.client import ConsumeResult, PushSettings
from rmqcore.model import MessageExt
from rmqcore.model.topic import RETRY_PREFIX, dead_letter_topic, retry_topic
from rmqcore.store import DELAY_LEVELS_MS

from .lab import Lab, check_range
from .member import Role
from .results import LabResult
from .stage import Stage

FIRST_LEVEL: Final = 3
MOST_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Parameters:
    """How often the message is tried again before it is given up."""

    retries: int = 3

    def __post_init__(self) -> None:
        check_range("retries", self.retries, 1, MOST_TRIES)

    @property
    def delays_ms(self) -> tuple[int, ...]:
        """The delays of RocketMQ's levels before each of the retries."""
        return DELAY_LEVELS_MS[FIRST_LEVEL - 1 : FIRST_LEVEL - 1 + self.retries]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetriedResult(LabResult):
    """The pauses between attempts, and how many messages both topics hold then."""

    pauses_ms: tuple[int, ...]
    delays_ms: tuple[int, ...]
    in_retry_topic: int
    dead_letters: int


async def play(stage: Stage, parameters: Parameters) -> RetriedResult:
    """Make a listener fail on one message until it is given up."""
    group, topic = stage.group(), await stage.topic(1)
    retry, dead = retry_topic(group), dead_letter_topic(group)

    async def fail(message: MessageExt) -> ConsumeResult:
        stage.tell("failed", attempt=message.reconsume_times + 1)
        return ConsumeResult.RECONSUME_LATER

    settings = PushSettings(max_reconsume_times=parameters.retries)
    role = Role(
        "c1",
        group,
        {topic: "*"},
        handle=fail,
        timers=True,
        options={"settings": settings},
    )
    member = await stage.join(role)
    await stage.rest(topic, [member], "joined")
    await stage.send(topic, ["bad"])

    async def given_up() -> bool:
        return await _length(stage, dead) > 0

    await stage.until(
        given_up, "the dead letter", takes_s=sum(parameters.delays_ms) / 1000
    )
    await stage.all_committed(group, retry, [member])
    dead_letters = await _length(stage, dead)
    stage.tell("given_up", topic=dead, count=dead_letters)

    times = [delivery.at_ms for delivery in member.given]
    pauses = tuple(later - earlier for earlier, later in pairwise(times))
    again = [d for d in member.given if d.queue.topic.startswith(RETRY_PREFIX)]
    attempts = [delivery.attempt for delivery in member.given]
    stage.claim(
        "retried",
        attempts == [*range(parameters.retries + 1)]
        and len(again) == parameters.retries,
        retries=parameters.retries,
        topic=retry,
    )
    stage.claim(
        "rising",
        len(pauses) == parameters.retries
        and all(a < b for a, b in pairwise(pauses))
        and all(p >= d for p, d in zip(pauses, parameters.delays_ms, strict=True)),
        pauses=", ".join(f"{pause / 1000:.0f} s" for pause in pauses),
    )
    stage.claim("dead_letter", dead_letters == 1, topic=dead)
    return RetriedResult(
        evidence=stage.evidence(),
        finding="dead_letters",
        pauses_ms=pauses,
        delays_ms=parameters.delays_ms,
        in_retry_topic=await _length(stage, retry),
        dead_letters=dead_letters,
    )


async def _length(stage: Stage, topic: str) -> int:
    """Return how many messages a topic holds; 0 where it does not exist yet."""
    if topic not in await stage.admin.topic_names():
        return 0
    queues = await stage.admin.topic_stats(topic)
    return sum(queue.max_offset - queue.min_offset for queue in queues.values())


LAB: Final = Lab(
    "F8",
    "A message that fails is retried later and later, then becomes a dead letter",
    ("C4",),
    MappingProxyType(
        {
            "failed": "Attempt {attempt}: the listener fails.",
            "given_up": "Given up: dead letters in {topic}: {count}.",
            "retried": "The message comes again {retries} times, by {topic}.",
            "rising": "Each pause is longer than the one before: {pauses}.",
            "dead_letter": (
                "After the last try it is in {topic} and is not delivered any more."
            ),
        }
    ),
    Parameters,
    play,
    pace=20.0,
)
