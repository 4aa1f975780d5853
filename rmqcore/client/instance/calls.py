"""The typed requests of a client to brokers: one method each.

Answers are checked here: an unexpected code raises as `raise_for_code` says. The caller
decides what to try again, and where.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rmqcore.model import HeartbeatData, MessageQueue
from rmqcore.protocol.bodies import (
    LockBatchRequest,
    decode_consumer_ids,
    decode_lock_response,
    encode_heartbeat,
    encode_lock_request,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand, SerializeType
from rmqcore.protocol.headers import (
    ConsumerSendMsgBackRequestHeader,
    GetConsumerListByGroupRequestHeader,
    GetMaxOffsetRequestHeader,
    GetMinOffsetRequestHeader,
    Header,
    OffsetResponseHeader,
    PullMessageRequestHeader,
    PullMessageResponseHeader,
    PullSysFlag,
    QueryConsumerOffsetRequestHeader,
    SearchOffsetRequestHeader,
    UnregisterClientRequestHeader,
    UpdateConsumerOffsetRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import ChannelPool, raise_for_code

CALL_TIMEOUT_S: Final = 3.0
LOCK_TIMEOUT_S: Final = 1.0
PULL_TIMEOUT_S: Final = 30.0
"""Twice what a broker holds a pull for, so that the broker answers first."""


class PullStatus(Enum):
    """The outcome of a pull."""

    FOUND = "found"
    NO_NEW_MESSAGE = "no new message"
    NO_MATCHED_MESSAGE = "no matched message"
    OFFSET_ILLEGAL = "offset illegal"


_PULL_STATUS: Final[dict[int, PullStatus]] = {
    ResponseCode.SUCCESS: PullStatus.FOUND,
    ResponseCode.PULL_NOT_FOUND: PullStatus.NO_NEW_MESSAGE,
    ResponseCode.PULL_RETRY_IMMEDIATELY: PullStatus.NO_MATCHED_MESSAGE,
    ResponseCode.PULL_OFFSET_MOVED: PullStatus.OFFSET_ILLEGAL,
}
_OFFSET_OR_NONE: Final = frozenset((ResponseCode.SUCCESS, ResponseCode.QUERY_NOT_FOUND))


@dataclass(frozen=True, slots=True)
class PullResult:
    """A broker's answer to a pull; `records` are the messages as stored.

    From a logical queue these are records of a physical one, whose offsets are lower by
    `offset_delta`.
    """

    status: PullStatus
    next_begin_offset: int
    min_offset: int
    max_offset: int
    suggest_broker_id: int
    records: bytes
    offset_delta: int = 0


class BrokerCalls:
    """Typed calls over one pool of channels."""

    def __init__(
        self, pool: ChannelPool, serialize_type: SerializeType = SerializeType.JSON
    ) -> None:
        self.pool = pool
        self.serialize_type = serialize_type
        self._without_lite: set[str] = set()

    def command(
        self,
        code: int,
        header: Header | None = None,
        body: bytes = b"",
        *,
        oneway: bool = False,
        short_names: bool = False,
    ) -> RemotingCommand:
        """Make a request in this client's header encoding."""
        fields = encode_header(header, short_names=short_names) if header else None
        return RemotingCommand.request(
            code, fields, body, oneway=oneway, serialize_type=self.serialize_type
        )

    # Membership

    async def heartbeat(self, address: str, data: HeartbeatData) -> None:
        """Tell a broker who we are and what we produce and consume (34)."""
        command = self.command(RequestCode.HEART_BEAT, body=encode_heartbeat(data))
        await self._ask(address, command)

    async def unregister(
        self,
        address: str,
        client_id: str,
        *,
        producer_group: str | None = None,
        consumer_group: str | None = None,
    ) -> None:
        """Leave a group on a broker (35)."""
        header = UnregisterClientRequestHeader(
            client_id=client_id,
            producer_group=producer_group,
            consumer_group=consumer_group,
        )
        await self._ask(address, self.command(RequestCode.UNREGISTER_CLIENT, header))

    async def consumer_ids(self, address: str, group: str) -> list[str]:
        """Return the client ids of a group (38); an empty one is an error (code 1)."""
        header = GetConsumerListByGroupRequestHeader(consumer_group=group)
        command = self.command(RequestCode.GET_CONSUMER_LIST_BY_GROUP, header)
        return decode_consumer_ids((await self._ask(address, command)).body)

    async def lock(
        self, address: str, client_id: str, group: str, queues: Iterable[MessageQueue]
    ) -> frozenset[MessageQueue]:
        """Lock queues on their master (41); return those that are ours now."""
        body = encode_lock_request(LockBatchRequest(group, client_id, tuple(queues)))
        command = self.command(RequestCode.LOCK_BATCH_MQ, body=body)
        response = await self._ask(address, command, timeout=LOCK_TIMEOUT_S)
        return decode_lock_response(response.body)

    async def unlock(
        self, address: str, client_id: str, group: str, queues: Iterable[MessageQueue]
    ) -> None:
        """Give up locks of queues (42)."""
        body = encode_lock_request(LockBatchRequest(group, client_id, tuple(queues)))
        command = self.command(RequestCode.UNLOCK_BATCH_MQ, body=body)
        await self._ask(address, command, timeout=LOCK_TIMEOUT_S)

    # Offsets

    async def query_offset(
        self, address: str, group: str, queue: MessageQueue
    ) -> int | None:
        """Return a group's committed offset (14), None when there is none."""
        header = QueryConsumerOffsetRequestHeader(
            consumer_group=group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            logical_broker=queue.broker_name,
        )
        command = self.command(RequestCode.QUERY_CONSUMER_OFFSET, header)
        response = await self._ask(address, command, ok=_OFFSET_OR_NONE)
        if response.code == ResponseCode.QUERY_NOT_FOUND:
            return None
        return _offset(response)

    async def update_offset(
        self,
        address: str,
        group: str,
        queue: MessageQueue,
        offset: int,
        *,
        oneway: bool = True,
    ) -> None:
        """Commit an offset (15)."""
        header = UpdateConsumerOffsetRequestHeader(
            consumer_group=group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            commit_offset=offset,
            logical_broker=queue.broker_name,
        )
        command = self.command(
            RequestCode.UPDATE_CONSUMER_OFFSET, header, oneway=oneway
        )
        if oneway:
            await self.pool.oneway(address, command)
        else:
            await self._ask(address, command)

    async def max_offset(self, address: str, queue: MessageQueue) -> int:
        """Return the offset that the next message of a queue will get (30)."""
        header = GetMaxOffsetRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            logical_broker=queue.broker_name,
        )
        command = self.command(RequestCode.GET_MAX_OFFSET, header)
        return _offset(await self._ask(address, command))

    async def min_offset(self, address: str, queue: MessageQueue) -> int:
        """Return the offset of the oldest message of a queue (31)."""
        header = GetMinOffsetRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            logical_broker=queue.broker_name,
        )
        command = self.command(RequestCode.GET_MIN_OFFSET, header)
        return _offset(await self._ask(address, command))

    async def search_offset(
        self, address: str, queue: MessageQueue, timestamp_ms: int
    ) -> int:
        """Return the offset of the first message stored at or after a time (29)."""
        header = SearchOffsetRequestHeader(
            topic=queue.topic,
            queue_id=queue.queue_id,
            timestamp=timestamp_ms,
            logical_broker=queue.broker_name,
        )
        command = self.command(RequestCode.SEARCH_OFFSET_BY_TIMESTAMP, header)
        return _offset(await self._ask(address, command))

    # Messages

    async def pull(self, address: str, header: PullMessageRequestHeader) -> PullResult:
        """Pull messages of one queue (11, 361); held for as long as the header asks.

        A broker of 4.x has one code for both kinds of consumers.
        """
        is_lite = header.sys_flag & PullSysFlag.LITE_PULL
        if is_lite and address not in self._without_lite:
            code = RequestCode.LITE_PULL_MESSAGE
        else:
            code = RequestCode.PULL_MESSAGE
        command = self.command(code, header)
        response = await self.pool.request(address, command, PULL_TIMEOUT_S)
        if (
            code is RequestCode.LITE_PULL_MESSAGE
            and response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
        ):
            self._without_lite.add(address)
            return await self.pull(address, header)
        raise_for_code(
            response,
            request_code=code,
            address=address,
            ok=_PULL_STATUS,
        )
        answer = decode_header(PullMessageResponseHeader, response.ext_fields)
        return PullResult(
            _PULL_STATUS[response.code],
            answer.next_begin_offset,
            answer.min_offset,
            answer.max_offset,
            answer.suggest_which_broker_id,
            response.body,
            answer.offset_delta or 0,
        )

    async def send_back(
        self, address: str, header: ConsumerSendMsgBackRequestHeader
    ) -> None:
        """Give a message back for a delayed retry (36)."""
        command = self.command(RequestCode.CONSUMER_SEND_MSG_BACK, header)
        await self._ask(address, command)

    async def _ask(
        self,
        address: str,
        command: RemotingCommand,
        *,
        timeout: float = CALL_TIMEOUT_S,
        ok: Collection[int] = (ResponseCode.SUCCESS,),
    ) -> RemotingCommand:
        response = await self.pool.request(address, command, timeout)
        raise_for_code(response, request_code=command.code, address=address, ok=ok)
        return response


def _offset(response: RemotingCommand) -> int:
    return decode_header(OffsetResponseHeader, response.ext_fields).offset
