"""Sending messages to a cluster, and having clients consume one once more. Both write.

A cluster that is attached read-only refuses them before anything is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.sending import SentMessage
from rmqcore.errors import RouteError
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.model.message import Property

from .asking import ask
from .read_only import check_writable
from .settings import ClusterSettings

DIRECT_SECONDS: Final = 15.0
"""A broker waits ten seconds for the client."""

LEFT_OUT: Final = frozenset(
    (
        *(Property.UNIQUE_KEY, Property.TRACE_ON, Property.DELAY, Property.WAIT),
        *(Property.CLUSTER, Property.MSG_REGION, Property.RETRY_TOPIC),
        *(Property.REAL_TOPIC, Property.REAL_QUEUE_ID, Property.RECONSUME_TIME),
        *(Property.MAX_RECONSUME_TIMES, Property.ORIGIN_MESSAGE_ID),
        *(Property.MIN_OFFSET, Property.MAX_OFFSET, Property.CONSUME_START_TIME),
        *(Property.DLQ_ORIGIN_TOPIC, Property.DLQ_ORIGIN_MESSAGE_ID),
        # Sent again with these it would be prepared, delayed or acknowledged anew.
        *("TRAN_MSG", "POP_CK", "1ST_POP_TIME", "__STARTDELIVERTIME"),
        *("TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS", "TIMER_OUT_MS"),
    )
)
"""Properties that belong to the old message, and not to one sent again."""


@dataclass(frozen=True, slots=True)
class DirectResult:
    """What a client said after consuming a message at once.

    `result` is RocketMQ's word, such as CR_SUCCESS; `spent_ms` is by the client.
    """

    result: str
    remark: str
    spent_ms: int


def resent(message: MessageExt, topic: str) -> Message:
    """Return what sending a message once more, to a topic, would send."""
    properties = {
        name: value
        for name, value in message.properties.items()
        if name not in LEFT_OUT
    }
    properties[Property.ORIGIN_MESSAGE_ID] = message.msg_id
    return Message(topic, message.body, properties, message.flag)


def online_clients(cluster: ClusterSettings, group: str, broker: str) -> list[str]:
    """Return the clients of a group that one broker knows, in order; empty if none."""

    async def work(admin: Admin) -> list[str]:
        (found,) = await admin.brokers(broker_name=broker)
        if found.any_address is None:
            raise RouteError(f"broker {broker!r} has no address")
        connection = await admin.consumer_connection(group, found.any_address)
        if connection is None:
            return []
        return sorted(each.client_id for each in connection.connections)

    return ask(cluster, work)


def send_message(
    cluster: ClusterSettings, message: Message, queue: MessageQueue | None = None
) -> tuple[SentMessage, MessageExt | None]:
    """Store a message; return where, and the message as read back from there."""
    check_writable(cluster)

    async def work(admin: Admin) -> tuple[SentMessage, MessageExt | None]:
        sent = await admin.send_message(message, queue=queue)
        return sent, await admin.message_by_id(sent.offset_msg_id)

    return ask(cluster, work)


def consume_directly(
    cluster: ClusterSettings, group: str, client_id: str, message: MessageExt
) -> DirectResult:
    """Have one online client of a group consume a message now."""
    check_writable(cluster)

    async def work(admin: Admin) -> DirectResult:
        done = await admin.consume_directly(group, client_id, message)
        return DirectResult(
            done.consume_result or "", done.remark or "", done.spent_time_mills
        )

    return ask(cluster, work, seconds=DIRECT_SECONDS)
