"""What is configured where: the values behind the pages that change it.

A configuration is a table of text, with RocketMQ's own names as keys, so that any two
of them can be compared, stored and shown. None stands for "not there".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["topic", "group", "broker", "writing", "user", "rule"]
"""A topic, a group, a broker's settings, the permission to write to a broker in the
routes of the name servers, a user, and what a subject may do."""

Values = Mapping[str, str]

MASKED: Final = "•••"
"""Stands for a setting that is a secret: neither shown nor written."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a configuration is kept: a broker's master, or a name server.

    `cluster` is RocketMQ's name of the broker's cluster, empty for a name server.
    `address` is empty while no master is alive.
    """

    name: str
    cluster: str
    address: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The configuration at one place; `problem` says why it is not known.

    `left_out` counts the topics of a broker whose routes were not looked at.
    """

    place: Place
    values: Values | None
    problem: str = ""
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """How writing to one place ended: `error` is empty if it took the request."""

    place: Place
    error: str = ""


@dataclass(frozen=True, slots=True)
class Reader:
    """A group that has to do with a topic. `members` are online; None if not known."""

    group: str
    members: int | None


@dataclass(frozen=True, slots=True)
class Loss:
    """What a deletion takes away; counts are those that could be read.

    `messages` are by topic. `partial` says that a broker did not answer, so that there
    may be more. `committed` counts queues with a committed offset, `readers` are
    groups of a topic, or the group itself.
    """

    messages: Mapping[str, int]
    readers: tuple[Reader, ...] = ()
    committed: int | None = None
    partial: bool = False
