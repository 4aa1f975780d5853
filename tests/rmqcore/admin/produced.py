"""Messages in queues, sent without a producer client."""

from __future__ import annotations

from collections.abc import Iterable

from rmqcore.admin import Admin
from rmqcore.model import Message, MessageQueue
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import SendMessageRequestHeader, encode_header
from rmqcore.transport import connect, raise_for_code


async def send(admin: Admin, messages: Iterable[Message], queue: MessageQueue) -> None:
    """Append the messages to one queue, in order."""
    (broker,) = await admin.brokers(broker_name=queue.broker_name)
    channel = await connect(str(broker.master))
    header = SendMessageRequestHeader(
        producer_group="test",
        topic=queue.topic,
        default_topic="TBW102",
        default_topic_queue_nums=1,
        queue_id=queue.queue_id,
        sys_flag=0,
        born_timestamp=1_700_000_000_000,
        flag=0,
    )
    code = RequestCode.SEND_MESSAGE_V2
    try:
        for message in messages:
            fields = encode_header(header, short_names=True)
            answer = await channel.request(
                RemotingCommand.request(code, fields, message.body)
            )
            raise_for_code(answer, request_code=code, address=channel.remote_address)
    finally:
        await channel.close()
