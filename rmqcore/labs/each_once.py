"""F1: in a clustering group every message goes to one member (A1).

Two members divide the queues; ten messages are consumed ten times in all, some by one
member, some by the other, and the group's progress is at the broker.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from .lab import Lab, check_range
from .member import Role
from .results import LabResult
from .stage import Stage


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many members, queues and messages there are."""

    members: int = 2
    queues: int = 4
    messages: int = 10

    def __post_init__(self) -> None:
        check_range("members", self.members, 1, 8)
        check_range("queues", self.queues, 1, 64)
        check_range("messages", self.messages, 1, 1000)


async def play(stage: Stage, parameters: Parameters) -> LabResult:
    """Send messages to a group and record who consumes them."""
    group, topic = stage.group(), await stage.topic(parameters.queues)
    members = [
        await stage.join(Role(f"c{number + 1}", group, {topic: "*"}))
        for number in range(parameters.members)
    ]
    division = await stage.rest(topic, members, "joined")
    bodies = [f"message-{number}" for number in range(parameters.messages)]
    await stage.send(topic, bodies)
    progress = await stage.all_committed(group, topic, members)
    stage.tell_consumed(members)
    counts = stage.evidence().times_consumed
    stage.claim("one_owner", not division.unowned and not division.shared)
    stage.claim(
        "each_once",
        counts == dict.fromkeys(bodies, 1),
        messages=len(bodies),
        times=counts.total(),
    )
    stage.claim("at_broker", progress.committed == len(bodies))
    return LabResult(evidence=stage.evidence())


LAB: Final = Lab(
    "F1",
    "A clustering group consumes each message once",
    ("A1",),
    MappingProxyType(
        {
            "one_owner": "Each queue has exactly one owner.",
            "each_once": "{messages} messages are consumed {times} times in all: no "
            "message is consumed by two members.",
            "at_broker": "The progress of a clustering group is kept by the broker.",
        }
    ),
    Parameters,
    play,
)
