"""Requests that are relayed to the clients of a group: 307, 309, 221 and 220.

The broker sends the request on the client's own channel and returns the answer as it
came. A client that does not answer in time delays only whoever asked. 221 travels by
way of 223, and 220, which is one-way, by way of 222.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Mapping
from typing import Final

from rmqcore.broker.consumers import ClientChannel
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.errors import (
    ArgumentError,
    ChannelClosedError,
    RequestTimeoutError,
    RmqError,
)
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import (
    ConsumerStatus,
    decode_consumer_status,
    encode_consumer_status,
    encode_queue_offsets,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    ConsumeMessageDirectlyRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetConsumerStatusRequestHeader,
    ResetOffsetRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.protocol.ids import decode_offset_msg_id
from rmqcore.transport import Channel

logger = logging.getLogger(__name__)

_RELAY_TIMEOUT_S: Final = 10.0
_STATUS_TIMEOUT_S: Final = 5.0


def running_info(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Awaitable[Answer]:
    """307: what one client is doing."""
    header = decode_header(GetConsumerRunningInfoRequestHeader, command.ext_fields)
    return _relay(state, command, header.consumer_group, header.client_id, command.body)


def consume_directly(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """309: have one client consume one message now; the message is put into the body.

    Unlike elsewhere, the message's id must be the offset id here.
    """
    header = decode_header(ConsumeMessageDirectlyRequestHeader, command.ext_fields)
    try:
        _, log_offset = decode_offset_msg_id(header.msg_id or "")
    except ArgumentError as error:
        return command.response(ResponseCode.SYSTEM_ERROR, str(error))
    record = state.store.record_at(log_offset)
    if record is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR, f"no message at offset {log_offset}"
        )
    command.ext_fields["brokerName"] = state.settings.name
    return _relay(state, command, header.consumer_group, header.client_id or "", record)


def consumer_status(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """223: the offsets as the members of a group, or one of them, know them."""
    header = decode_header(GetConsumerStatusRequestHeader, command.ext_fields)
    group = state.consumers.group(header.group)
    if group is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"No Any Consumer online in the consumer group: [{header.group}]",
        )
    members = [
        member
        for member in group.members.values()
        if header.client_addr in (None, "", member.client_id)
    ]
    return _gather_status(command, header, members)


def reset_by_members(
    state: BrokerState,
    command: RemotingCommand,
    header: ResetOffsetRequestHeader,
    queues: int,
) -> RemotingCommand:
    """222 by way of 220: have every online member set the group's offsets.

    Without force, an offset only goes back. The group must have committed an offset on
    every queue, and at least one member must be online.
    """
    topic, name = header.topic, header.group
    offsets: dict[MessageQueue, int] = {}
    for queue_id in range(queues):
        committed = state.offsets.committed(name, topic, queue_id)
        if committed is None:
            return command.response(
                ResponseCode.SYSTEM_ERROR, f"THe consumer group <{name}> not exist"
            )
        target = offset_at(state, topic, queue_id, header.timestamp)
        chosen = target if header.is_force else min(target, committed)
        offsets[MessageQueue(topic, state.settings.name, queue_id)] = chosen
    group = state.consumers.group(name)
    if group is None:
        return command.response(
            ResponseCode.CONSUMER_NOT_ONLINE,
            f"Consumer not online, so can not reset offset, Group: {name} "
            f"Topic: {topic} Timestamp: {header.timestamp}",
        )
    body = encode_queue_offsets(offsets)
    for member in group.members.values():
        request = RemotingCommand.request(
            RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
            command.ext_fields,
            body,
            oneway=True,
        )
        with contextlib.suppress(ChannelClosedError):
            member.channel.send_oneway(request)
    return command.response(body=body)


def offset_at(state: BrokerState, topic: str, queue_id: int, timestamp: int) -> int:
    """Return the offset at a store time in ms; a negative time is the queue's end."""
    if timestamp < 0:
        return state.store.max_offset(topic, queue_id)
    return state.store.offset_by_time(topic, queue_id, timestamp)


# Private, in order of first use


async def _relay(
    state: BrokerState,
    command: RemotingCommand,
    group_name: str,
    client_id: str,
    body: bytes,
) -> Answer:
    group = state.consumers.group(group_name)
    member = None if group is None else group.member(client_id)
    if member is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"The Consumer <{group_name}> <{client_id}> not online",
        )
    request = RemotingCommand.request(command.code, command.ext_fields, body)
    try:
        answer = await member.channel.request(request, _RELAY_TIMEOUT_S)
    except RequestTimeoutError as error:
        return command.response(
            ResponseCode.CONSUME_MSG_TIMEOUT,
            f"consumer <{group_name}> <{client_id}> Timeout: {error}",
        )
    except RmqError as error:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"invoke consumer <{group_name}> <{client_id}> Exception: {error}",
        )
    return command.response(answer.code, answer.remark, answer.ext_fields, answer.body)


async def _gather_status(
    command: RemotingCommand,
    header: GetConsumerStatusRequestHeader,
    members: list[ClientChannel[Channel]],
) -> Answer:
    asked = GetConsumerStatusRequestHeader(topic=header.topic, group=header.group)
    ext_fields = encode_header(asked)
    answers = await asyncio.gather(
        *(_status_of(member, ext_fields) for member in members)
    )
    by_client = {
        member.client_id: offsets
        for member, offsets in zip(members, answers, strict=True)
        if offsets is not None
    }
    body = encode_consumer_status(ConsumerStatus({}, by_client))
    return command.response(body=body)


async def _status_of(
    member: ClientChannel[Channel], ext_fields: Mapping[str, str]
) -> Mapping[MessageQueue, int] | None:
    request = RemotingCommand.request(
        RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, ext_fields
    )
    try:
        answer = await member.channel.request(request, _STATUS_TIMEOUT_S)
        if answer.code != ResponseCode.SUCCESS or not answer.body:
            return None
        return decode_consumer_status(answer.body).offsets
    except RmqError as error:
        logger.info("client=%s gave no status: %s", member.client_id, error)
        return None
