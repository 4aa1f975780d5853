"""Checks the wish for a group before it is saved, as members do at their start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rmqcore.errors import ArgumentError
from rmqcore.model import ConsumeFromWhere, MessageModel
from rmqcore.protocol.tags import parse_tag_expression

from .listeners import make_listener
from .strategies import hosted_strategy


def check(
    *,
    group: str,
    topics: Sequence[tuple[str, str]],
    mode: str,
    strategy: str,
    strategy_options: Mapping[str, Any],
    start_position: str,
    listener: str,
    listener_options: Mapping[str, Any],
) -> None:
    """Raise `ArgumentError` naming what no worker could host."""
    if not topics:
        raise ArgumentError("a group needs a topic, got none")
    for topic, expression in topics:
        if not topic:
            raise ArgumentError("a subscription needs a topic, got an empty one")
        parse_tag_expression(topic, expression)
    if mode not in set(MessageModel):
        raise ArgumentError(
            f"mode is {mode!r}; the known ones are {', '.join(MessageModel)}"
        )
    if start_position not in set(ConsumeFromWhere):
        raise ArgumentError(f"unknown start position {start_position!r}")
    hosted_strategy(strategy, strategy_options, group)
    make_listener(listener, listener_options)
