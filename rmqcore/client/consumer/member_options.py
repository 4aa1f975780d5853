"""The options of every kind of group member: group, division, mode, start, offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from rmqcore.allocation import DEFAULT_STRATEGY, AllocateStrategy, make_strategy
from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.client_spec import ClientOptions
from rmqcore.client.membership.events import EventCallback
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.remote_offsets import RemoteOffsetStore
from rmqcore.client.membership.start_position import (
    DEFAULT_TIMESTAMP_AGO_MS,
    StartPosition,
)
from rmqcore.client.membership.subscriptions import Subscriptions
from rmqcore.client.rebalance.rules import Assigner
from rmqcore.errors import ArgumentError
from rmqcore.model import ConsumeFromWhere, MessageModel
from rmqcore.offsets import LocalFileOffsetStore, OffsetStore, default_offsets_directory

E = TypeVar("E", bound=StrEnum)


class ConsumerOptions(ClientOptions, total=False):
    """Options that push and lite pull consumers have in common.

    The defaults are AVG, CLUSTERING and the end of a queue that the group has never
    committed. `consume_timestamp_ms` is where TIMESTAMP starts, half an hour ago unless
    given. `on_event` is told of changes, see `events`.
    """

    strategy: str | AllocateStrategy
    strategy_options: Mapping[str, Any] | None
    message_model: MessageModel | str
    consume_from_where: ConsumeFromWhere | str
    consume_timestamp_ms: int | None
    offsets_dir: Path | str | None
    on_event: EventCallback | None


@dataclass(frozen=True, slots=True)
class MemberOptions:
    """Options of a group member, checked."""

    group: str
    strategy: AllocateStrategy
    message_model: MessageModel
    consume_from_where: ConsumeFromWhere
    consume_timestamp_ms: int | None
    orderly: bool
    offsets_dir: Path
    on_event: EventCallback | None

    @classmethod
    def of(
        cls, group: str, given: ConsumerOptions, *, orderly: bool = False
    ) -> MemberOptions:
        """Check the options; raise `ArgumentError`, naming the one that is wrong."""
        if not group.strip():
            raise ArgumentError("a consumer needs a group, got an empty one")
        return cls(
            group,
            _strategy_of(
                given.get("strategy", DEFAULT_STRATEGY), given.get("strategy_options")
            ),
            _member_of(
                MessageModel, given.get("message_model", MessageModel.CLUSTERING)
            ),
            _member_of(
                ConsumeFromWhere,
                given.get("consume_from_where", ConsumeFromWhere.LAST_OFFSET),
            ),
            given.get("consume_timestamp_ms"),
            orderly,
            Path(given.get("offsets_dir") or default_offsets_directory()),
            given.get("on_event"),
        )

    def with_strategy(
        self,
        strategy: str | AllocateStrategy,
        strategy_options: Mapping[str, Any] | None,
    ) -> MemberOptions:
        """Return the same options with another strategy."""
        return replace(self, strategy=_strategy_of(strategy, strategy_options))

    def context(self, instance: ClientInstance) -> GroupContext:
        """Return the state that a member starts with."""
        return GroupContext(
            instance,
            self.group,
            self.message_model,
            self.orderly,
            self._offset_store(instance),
            Subscriptions(),
            self.on_event,
        )

    def assigner(self, client_id: str) -> Assigner:
        """Return the assigner that computes the part of one client."""
        return Assigner(self.group, client_id, self.message_model, self.strategy)

    def start_position(self, now_ms: int) -> StartPosition:
        """Return where to start on queues never committed; half an hour ago by time."""
        given = self.consume_timestamp_ms
        return StartPosition(
            self.consume_from_where,
            now_ms - DEFAULT_TIMESTAMP_AGO_MS if given is None else given,
        )

    def _offset_store(self, instance: ClientInstance) -> OffsetStore:
        if self.message_model is MessageModel.BROADCASTING:
            return LocalFileOffsetStore(
                self.offsets_dir, instance.client_id, self.group
            )
        return RemoteOffsetStore(instance, self.group)


def _strategy_of(
    strategy: str | AllocateStrategy, options: Mapping[str, Any] | None
) -> AllocateStrategy:
    if isinstance(strategy, AllocateStrategy):
        return strategy
    return make_strategy(strategy, options or {})


def _member_of(kind: type[E], value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise ArgumentError(f"{kind.__name__} {value!r}, allowed are {known}") from None
