"""Messages as a broker would hand them out, for tests that need some."""

from __future__ import annotations

from collections.abc import Iterable

from rmqcore.model import MessageExt, MessageQueue

QUEUE = MessageQueue("T", "broker-a", 0)


def message(
    offset: int,
    *,
    body: bytes = b"0123456789",
    queue: MessageQueue = QUEUE,
    reconsume_times: int = 0,
    **properties: str,
) -> MessageExt:
    """Return a message of `queue` at `offset`."""
    return MessageExt(
        topic=queue.topic,
        broker_name=queue.broker_name,
        queue_id=queue.queue_id,
        queue_offset=offset,
        commit_log_offset=offset * 100,
        body=body,
        properties=properties,
        flag=0,
        sys_flag=0,
        born_timestamp=1_700_000_000_000,
        born_host="127.0.0.1:5555",
        store_timestamp=1_700_000_000_001,
        store_host="127.0.0.1:10911",
        reconsume_times=reconsume_times,
        prepared_transaction_offset=0,
        body_crc=0,
        store_size=100,
        offset_msg_id=f"{offset:032X}",
    )


def messages(offsets: Iterable[int]) -> list[MessageExt]:
    """Return one message for each offset, in the order given."""
    return [message(offset) for offset in offsets]
