"""Division of queues by the broker: for one member (400), and its mode (401).

It divides as brokers of 5.x do: by the two strategies that need no options, over the
queues of the whole cluster and the members connected to this broker. Where the division
is not known, the answer has no list, which is not the same as an empty list: a member
keeps what it has in the first case and gives everything up in the second.

Messages are never handed out by POP here, so PULL is the only mode that can be set.
"""

from __future__ import annotations

import logging
from typing import Final

from rmqcore.allocation import allocate
from rmqcore.broker.state import BrokerState
from rmqcore.errors import AllocationError
from rmqcore.model import MessageModel, MessageQueue, sorted_client_ids
from rmqcore.model.topic import RETRY_PREFIX
from rmqcore.protocol.bodies import (
    QueryAssignment,
    QueueAssignment,
    decode_query_assignment,
    decode_set_request_mode,
    encode_assignments,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel

logger = logging.getLogger(__name__)

SERVED_STRATEGIES: Final = frozenset({"AVG", "AVG_BY_CIRCLE"})
"""The strategies without options, which are also those of Apache's broker."""


async def query_assignment(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """400: the queues of one member."""
    asked = decode_query_assignment(command.body)
    queues = await state.readable_queues(asked.topic)
    share = None if queues is None else _share(state, asked, queues)
    if share is None:
        logger.info(
            "group=%s client_id=%s topic=%s strategy=%s: no assignment",
            asked.consumer_group,
            asked.client_id,
            asked.topic,
            asked.strategy_name,
        )
        return command.response(body=encode_assignments(None))
    assigned = [QueueAssignment(queue) for queue in share]
    return command.response(body=encode_assignments(assigned))


def set_request_mode(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """401: set how a group receives a topic's messages."""
    asked = decode_set_request_mode(command.body)
    if asked.topic.startswith(RETRY_PREFIX):
        return command.response(
            ResponseCode.NO_PERMISSION, "retry topic is not allowed to set mode"
        )
    if asked.topic not in state.topics:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"topic[{asked.topic}] not exist"
        )
    if state.groups.find(asked.consumer_group, state.clock.time_ms()) is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            "subscription group does not exist",
        )
    if asked.mode != "PULL":
        return command.response(
            ResponseCode.NO_PERMISSION,
            f"this broker does not hand out messages by {asked.mode}, only by PULL",
        )
    return command.response()


# Private


def _share(
    state: BrokerState, asked: QueryAssignment, queues: list[MessageQueue]
) -> list[MessageQueue] | None:
    if asked.message_model is MessageModel.BROADCASTING:
        return queues
    if not state.settings.server_load_balancer:
        return queues
    group = state.consumers.group(asked.consumer_group)
    if group is None or asked.strategy_name not in SERVED_STRATEGIES:
        return None
    try:
        return allocate(
            asked.strategy_name,
            group=asked.consumer_group,
            client_id=asked.client_id,
            queues=queues,
            client_ids=sorted_client_ids(group.client_ids),
        )
    except AllocationError as error:
        logger.info("group=%s %s", asked.consumer_group, error)
        return None
