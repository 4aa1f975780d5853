"""F2: in a broadcasting group every member consumes everything (A2, A3).

Two members with instance names of their own: nothing is divided, each consumes all ten
messages, and each keeps its progress in a file of its own. The broker never has any
progress to show.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.model import MessageModel

from .lab import Lab, check_range
from .member import Role
from .results import LabResult, OffsetsFile
from .stage import Stage

QUEUES: Final = 4


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many messages are sent."""

    messages: int = 10

    def __post_init__(self) -> None:
        check_range("messages", self.messages, 1, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastingResult(LabResult):
    """What the broker says about the group, and the files before and after."""

    broker_offsets: tuple[int, ...]
    files_before: tuple[OffsetsFile, ...]
    files_after: tuple[OffsetsFile, ...]


async def play(stage: Stage, parameters: Parameters) -> BroadcastingResult:
    """Send messages to a broadcasting group and record who consumes them."""
    group, topic = stage.group(), await stage.topic(QUEUES)
    options = {
        "message_model": MessageModel.BROADCASTING,
        "offsets_dir": stage.offsets_dir,
    }
    members = [
        await stage.join(Role(name, group, {topic: "*"}, options=options))
        for name in ("c1", "c2")
    ]
    division = await stage.rest(topic, members, "joined")
    before = [await stage.offsets_file(member, "joined") for member in members]

    bodies = [f"message-{number}" for number in range(parameters.messages)]
    await stage.send(topic, bodies)
    await stage.until(
        lambda: all(len(member.given) >= len(bodies) for member in members),
        "both members to consume everything",
    )
    stage.tell_consumed(members)
    await stage.persist(members)
    after = [await stage.offsets_file(member, "consumed") for member in members]
    for file in after:
        stage.tell("file", client_id=file.client_id, total=file.total)
    stats = await stage.admin.consume_stats(group, await stage.broker_address(), topic)
    broker = tuple(offsets.consumer_offset for offsets in stats.values())
    stage.tell("broker", offsets=list(broker))

    stage.claim("undivided", len(division.shared) == QUEUES, queues=QUEUES)
    everything = all(sorted(m.bodies) == sorted(bodies) for m in members)
    stage.claim("everything", everything, messages=len(bodies))
    stage.claim("broker_zero", len(broker) == QUEUES and not any(broker))
    moved = all(file.total == len(bodies) for file in after)
    stage.claim("files", moved and not any(file.total for file in before))
    return BroadcastingResult(
        evidence=stage.evidence(),
        finding="broadcasting",
        broker_offsets=broker,
        files_before=tuple(before),
        files_after=tuple(after),
    )


LAB: Final = Lab(
    "F2",
    "In a broadcasting group every member consumes every message",
    ("A2", "A3"),
    MappingProxyType(
        {
            "file": "The file of {client_id} has come to {total} messages.",
            "broker": "The broker reports the offsets {offsets}.",
            "undivided": "Each member holds all {queues} queues: nothing is divided.",
            "everything": "Each member consumes all {messages} messages.",
            "broker_zero": "The broker reports offset 0 for every queue, even after "
            "everything has been consumed: that is not lag.",
            "files": "Each member's progress is in a file of its own, on its host.",
        }
    ),
    Parameters,
    play,
)
