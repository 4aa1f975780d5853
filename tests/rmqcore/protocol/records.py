"""Messages as the records that the store writes."""

from rmqcore.model import MessageExt
from rmqcore.protocol.ids import pack_host
from rmqcore.protocol.properties import encode_properties
from rmqcore.store.record import PendingRecord, encode


def encode_record(message: MessageExt) -> bytes:
    """Return the record of a message, at the place and time that it names."""
    record = PendingRecord(
        message.topic,
        message.queue_id,
        message.body,
        encode_properties(message.properties).encode(),
        message.born_timestamp,
        pack_host(message.born_host),
        pack_host(message.store_host),
        message.flag,
        message.sys_flag,
        message.reconsume_times,
        message.prepared_transaction_offset,
    )
    return encode(
        record,
        message.queue_offset,
        message.commit_log_offset,
        message.store_timestamp,
    )
