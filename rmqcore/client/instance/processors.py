"""Requests that brokers send to a client: the handler of each code, and the answer.

Membership changes (40) and offset resets (220) are one-way; the others are questions
that an administrator asked a broker, which relayed them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final, Protocol

from rmqcore.errors import RmqError
from rmqcore.protocol.bodies import (
    ConsumerStatus,
    decode_queue_offsets,
    encode_consume_directly_result,
    encode_consumer_running_info,
    encode_consumer_status,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    ConsumeMessageDirectlyRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetConsumerStatusRequestHeader,
    NotifyConsumerIdsChangedRequestHeader,
    ResetOffsetRequestHeader,
    decode_header,
)
from rmqcore.protocol.message import decode_records
from rmqcore.transport import Channel

from .member import GroupMember

logger = logging.getLogger(__name__)


class Served(Protocol):
    """The part of an instance that requests from brokers need."""

    client_id: str
    notices: Counter[str]
    """How often brokers said that a group's members changed, by group."""

    @property
    def members(self) -> Mapping[str, GroupMember]:
        """The groups that joined through this client, by name."""
        ...

    def spawn(self, work: Coroutine[Any, Any, Any]) -> object:
        """Run work in the background."""
        ...


Processor = Callable[
    [Served, RemotingCommand],
    Awaitable[RemotingCommand | None] | RemotingCommand | None,
]


def answer_broker(
    instance: Served, channel: Channel, command: RemotingCommand
) -> Awaitable[RemotingCommand | None] | RemotingCommand | None:
    """Answer a broker's request, or carry it out."""
    processor = PROCESSORS.get(command.code)
    if processor is None:
        logger.info(
            "peer=%s code=%d is not served", channel.remote_address, command.code
        )
        return command.response(
            ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
            f" request type {command.code} not supported",
        )
    return processor(instance, command)


def members_changed(instance: Served, command: RemotingCommand) -> None:
    """Rebalance the group whose members changed (40)."""
    header = decode_header(NotifyConsumerIdsChangedRequestHeader, command.ext_fields)
    member = instance.members.get(header.consumer_group)
    if member is not None:
        instance.notices[header.consumer_group] += 1
        member.rebalance_soon()


def reset_offsets(instance: Served, command: RemotingCommand) -> None:
    """Make a group continue from the given offsets (220)."""
    header = decode_header(ResetOffsetRequestHeader, command.ext_fields)
    offsets = decode_queue_offsets(command.body)
    member = instance.members.get(header.group)
    if member is not None:
        instance.spawn(member.reset_offsets(header.topic, offsets))


def consumer_status(instance: Served, command: RemotingCommand) -> RemotingCommand:
    """Return the offsets of a group as this client knows them (221)."""
    header = decode_header(GetConsumerStatusRequestHeader, command.ext_fields)
    member = instance.members.get(header.group)
    if member is None:
        return _no_such_group(instance, command, header.group)
    status = ConsumerStatus(member.offsets(header.topic))
    return command.response(body=encode_consumer_status(status))


def running_info(instance: Served, command: RemotingCommand) -> RemotingCommand:
    """Return what a group is doing on this client (307)."""
    header = decode_header(GetConsumerRunningInfoRequestHeader, command.ext_fields)
    member = instance.members.get(header.consumer_group)
    if member is None:
        return _no_such_group(instance, command, header.consumer_group)
    info = member.running_info(with_stacks=bool(header.jstack_enable))
    return command.response(body=encode_consumer_running_info(info))


async def consume_directly(
    instance: Served, command: RemotingCommand
) -> RemotingCommand:
    """Have a group's listener consume the message in the body now (309)."""
    header = decode_header(ConsumeMessageDirectlyRequestHeader, command.ext_fields)
    member = instance.members.get(header.consumer_group)
    if member is None:
        return _no_such_group(instance, command, header.consumer_group)
    try:
        messages = decode_records(command.body, header.broker_name or "")
    except RmqError as error:
        return command.response(ResponseCode.SYSTEM_ERROR, str(error))
    result = await member.consume_directly(messages)
    return command.response(body=encode_consume_directly_result(result))


PROCESSORS: Final[dict[int, Processor]] = {
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: members_changed,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET: reset_offsets,
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: consumer_status,
    RequestCode.GET_CONSUMER_RUNNING_INFO: running_info,
    RequestCode.CONSUME_MESSAGE_DIRECTLY: consume_directly,
}
"""The handlers by request code."""


def _no_such_group(
    instance: Served, command: RemotingCommand, group: str
) -> RemotingCommand:
    return command.response(
        ResponseCode.SYSTEM_ERROR,
        f"group {group} has no consumer on client {instance.client_id}",
    )
