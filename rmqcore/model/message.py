"""Messages, as an application sends them, and as a broker stores and returns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rmqcore.errors import ArgumentError

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
"""Default limit of clients and brokers for one message body."""

MAX_PROPERTIES_BYTES: Final = 32_767
"""The stored properties' length is a signed 16-bit field."""


class Property:
    """Names of message properties that brokers or clients interpret."""

    KEYS: Final = "KEYS"
    TAGS: Final = "TAGS"
    WAIT: Final = "WAIT"
    DELAY: Final = "DELAY"
    RETRY_TOPIC: Final = "RETRY_TOPIC"
    REAL_TOPIC: Final = "REAL_TOPIC"
    REAL_QUEUE_ID: Final = "REAL_QID"
    ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
    RECONSUME_TIME: Final = "RECONSUME_TIME"
    MAX_RECONSUME_TIMES: Final = "MAX_RECONSUME_TIMES"
    UNIQUE_KEY: Final = "UNIQ_KEY"
    CLUSTER: Final = "CLUSTER"
    MSG_REGION: Final = "MSG_REGION"
    TRACE_ON: Final = "TRACE_ON"
    MIN_OFFSET: Final = "MIN_OFFSET"
    MAX_OFFSET: Final = "MAX_OFFSET"
    CONSUME_START_TIME: Final = "CONSUME_START_TIME"
    INSTANCE_ID: Final = "INSTANCE_ID"
    SHARDING_KEY: Final = "__SHARDINGKEY"
    DLQ_ORIGIN_TOPIC: Final = "DLQ_ORIGIN_TOPIC"
    DLQ_ORIGIN_MESSAGE_ID: Final = "DLQ_ORIGIN_MESSAGE_ID"


KEY_SEPARATOR: Final = " "


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send: topic, body and properties (tags, keys and the rest).

    Raises `ArgumentError` when the topic is empty, the body is longer than 4 MiB, or
    a property holds one of the two bytes that separate properties on the wire.
    """

    topic: str
    body: bytes
    properties: Mapping[str, str] = field(default_factory=dict)
    flag: int = 0

    def __post_init__(self) -> None:
        if not self.topic:
            raise ArgumentError("a message needs a topic, got an empty one")
        if len(self.body) > MAX_BODY_BYTES:
            raise ArgumentError(
                f"body of {len(self.body)} bytes, limit {MAX_BODY_BYTES}"
            )
        for name, value in self.properties.items():
            if "\x01" in name + value or "\x02" in name + value:
                raise ArgumentError(
                    f"property {name!r} holds \\x01 or \\x02, which separate properties"
                )

    @classmethod
    def of(
        cls,
        topic: str,
        body: bytes,
        *,
        tags: str = "",
        keys: Iterable[str] = (),
        delay_level: int = 0,
        properties: Mapping[str, str] | None = None,
        flag: int = 0,
    ) -> Message:
        """Make a message from tags, keys and delay level (1 to 18, 0 for none).

        A level above the broker's last one counts as the last; a negative one is
        refused.
        """
        if delay_level < 0:
            raise ArgumentError(f"delay level is {delay_level}, must not be negative")
        merged = dict(properties or {})
        if tags:
            merged[Property.TAGS] = tags
        joined = KEY_SEPARATOR.join(keys)
        if joined:
            merged[Property.KEYS] = joined
        if delay_level:
            merged[Property.DELAY] = str(delay_level)
        return cls(topic, body, merged, flag)

    @property
    def tags(self) -> str:
        """The tag, empty when there is none."""
        return self.properties.get(Property.TAGS, "")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in the order given."""
        return tuple(self.properties.get(Property.KEYS, "").split())


@dataclass(frozen=True, slots=True)
class MessageExt:
    """A message as stored by a broker, with everything the record carries.

    Times are milliseconds since the epoch by the clock of the process that wrote
    them; hosts are `ip:port`. `body` is as stored until `protocol.message` inflates it.
    """

    topic: str
    broker_name: str
    queue_id: int
    queue_offset: int
    commit_log_offset: int
    body: bytes
    properties: Mapping[str, str]
    flag: int
    sys_flag: int
    born_timestamp: int
    born_host: str
    store_timestamp: int
    store_host: str
    reconsume_times: int
    prepared_transaction_offset: int
    body_crc: int
    store_size: int
    offset_msg_id: str

    @property
    def tags(self) -> str:
        """The tag, empty when there is none."""
        return self.properties.get(Property.TAGS, "")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in the order given."""
        return tuple(self.properties.get(Property.KEYS, "").split())

    @property
    def msg_id(self) -> str:
        """The id that producers and consumers see: UNIQ_KEY, else the offset id."""
        return self.properties.get(Property.UNIQUE_KEY) or self.offset_msg_id
