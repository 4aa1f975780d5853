"""Giving messages back for another attempt later (C4, C9).

The broker that has a message is asked to deliver it again under the group's retry topic
after a delay that grows with the attempts, and to put it among the dead letters after
the last one (36). Where that broker cannot be asked, a copy is sent to the retry topic
like any message. Only if both fail does the caller keep the message.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final

from rmqcore.client.instance.calls import CALL_TIMEOUT_S
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.producer.selectors import RoundRobin
from rmqcore.client.producer.sending import Sender, read_send_response
from rmqcore.errors import RmqError, RouteError
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.model.mapping import is_logical
from rmqcore.model.message import Property
from rmqcore.model.topic import retry_topic
from rmqcore.protocol.headers import ConsumerSendMsgBackRequestHeader

logger = logging.getLogger(__name__)

INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
FIRST_DELAY_LEVEL: Final = 3
"""The delay of the first retry, 10 s; each further one is a level longer."""

_TRANSACTION_PREPARED: Final = "TRAN_MSG"


def as_subscribed(group: str, messages: list[MessageExt]) -> list[MessageExt]:
    """Return messages under the topic that the application subscribed to.

    A message that comes again comes under the group's retry topic.
    """
    if messages[0].topic != retry_topic(group):
        return messages
    return [replace(message, topic=_original_topic(message)) for message in messages]


class Retries:
    """Gives back the messages of one member."""

    def __init__(self, context: GroupContext, max_reconsume_times: int) -> None:
        self._context = context
        self.max_reconsume_times = max_reconsume_times
        self._topic = retry_topic(context.group)
        self._sender = Sender(context.instance.calls, INNER_PRODUCER_GROUP)
        self._turn = RoundRobin(context.instance.rng)

    async def send_back(self, message: MessageExt, delay_level: int = 0) -> bool:
        """Give a message back; return True once the broker is to deliver it again.

        `delay_level` 0 lets the broker choose by the attempts, -1 means the dead
        letters at once.
        """
        try:
            await self._ask_broker(message, delay_level)
        except RmqError as error:
            logger.warning(
                "group=%s msg=%s not sent back, sending a copy: %s",
                self._context.group,
                message.msg_id,
                error,
            )
            return await self.send_copy(message)
        return True

    async def send_copy(self, message: MessageExt) -> bool:
        """Send a copy to the retry topic; return True when it was stored."""
        instance = self._context.instance
        try:
            if not instance.routes.publish_queues(self._topic):
                await instance.fetch_route(self._topic, for_publish=True)
            queue = self._turn.choose(instance.routes.publish_queues(self._topic))
            address = await instance.master(queue)
            command, unique = self._sender.send_command(
                self._copy(message), queue, instance.now_ms(), oneway=False
            )
            response = await instance.pool.request(address, command, CALL_TIMEOUT_S)
            read_send_response(
                response,
                request_code=command.code,
                address=address,
                queue=queue,
                unique=unique,
            )
        except RmqError as error:
            logger.warning(
                "group=%s msg=%s no copy stored: %s",
                self._context.group,
                message.msg_id,
                error,
            )
            return False
        return True

    async def _ask_broker(self, message: MessageExt, delay_level: int) -> None:
        instance = self._context.instance
        queue = MessageQueue(message.topic, message.broker_name, message.queue_id)
        try:
            # A logical queue may have moved on from the broker that stored the message.
            moves = is_logical(queue.broker_name)
            address = message.store_host if moves else await instance.master(queue)
        except RouteError:
            address = message.store_host
        header = ConsumerSendMsgBackRequestHeader(
            offset=message.commit_log_offset,
            group=self._context.group,
            delay_level=delay_level,
            origin_msg_id=message.msg_id,
            origin_topic=_original_topic(message),
            unit_mode=False,
            max_reconsume_times=self.max_reconsume_times,
            logical_broker=message.broker_name,
        )
        await instance.calls.send_back(address, header)

    def _copy(self, message: MessageExt) -> Message:
        properties = dict(message.properties)
        properties.pop(_TRANSACTION_PREPARED, None)
        properties.setdefault(Property.ORIGIN_MESSAGE_ID, message.msg_id)
        properties[Property.RETRY_TOPIC] = _original_topic(message)
        properties[Property.RECONSUME_TIME] = str(message.reconsume_times + 1)
        properties[Property.MAX_RECONSUME_TIMES] = str(self.max_reconsume_times)
        properties[Property.DELAY] = str(FIRST_DELAY_LEVEL + message.reconsume_times)
        return Message(self._topic, message.body, properties, message.flag)


def _original_topic(message: MessageExt) -> str:
    return message.properties.get(Property.RETRY_TOPIC) or message.topic
