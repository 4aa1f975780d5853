"""The steps that a lab reports while it runs, each in plain words and with a key.

A page shows the text in its reader's language by the key: `Lab.texts` holds the English
sentence, with the names of `params` in braces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a lab; `at_ms` is the time of the lab's clock."""

    lab: str
    number: int
    key: str
    text: str
    params: Mapping[str, object]
    at_ms: int


Observer: TypeAlias = Callable[[Step], None]
"""Called for each step on the lab's event loop; must not block and must not raise."""


def ignore(step: Step) -> None:
    """Watch nothing."""


EVERYWHERE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topic": "Topic {topic} is made on {broker}; queues: {queues}.",
        "joined": "{member} joins group {group} as client {client_id}.",
        "left": "{member} leaves the group gracefully.",
        "died": (
            "{member} is killed: its connection ends, and nothing is written "
            "or released."
        ),
        "sent": "Messages sent to {topic}: {count}.",
        "division": "At rest, {topic} is divided: {division}.",
        "broadcast": "At rest, {topic} is not divided; each member holds all its "
        "queues: {division}.",
        "consumed": "Delivered to listeners so far: {shares}; {total} in all.",
        "offsets": "Group {group} has committed {committed} of {end} on {topic}.",
    }
)
"""The steps that every lab reports."""
