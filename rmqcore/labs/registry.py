"""The labs by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from rmqcore.errors import ArgumentError

from . import (
    blocked_message,
    broadcasting,
    dead_lock_holder,
    different_tags,
    different_topics,
    divisions,
    each_once,
    failing_listener,
    offsets_file,
    shared_client_id,
)
from .lab import Lab

LABS: Final[Mapping[str, Lab]] = MappingProxyType(
    {
        lab.name: lab
        for lab in (
            each_once.LAB,
            broadcasting.LAB,
            offsets_file.LAB,
            shared_client_id.BROADCASTING,
            shared_client_id.CLUSTERING,
            different_tags.LAB,
            different_topics.LAB,
            divisions.LAB,
            blocked_message.LAB,
            dead_lock_holder.LAB,
            failing_listener.LAB,
        )
    }
)
"""Every lab, in the order to watch them in."""


def lab_named(name: str) -> Lab:
    """Return the lab of that name; case does not matter."""
    for lab in LABS.values():
        if lab.name.lower() == name.lower():
            return lab
    raise ArgumentError(f"unknown lab {name!r}; the known ones are {', '.join(LABS)}")
