"""Brokers and name servers that say what a test wants, over real sockets.

They speak the protocol through the project's own server and encoders. What they hold
is plain data; `faults` decides, per request code, what goes wrong instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rmqcore.model.queue import MessageQueue
from rmqcore.model.route import BrokerData
from rmqcore.model.subscription import ConsumeType, MessageModel, SubscriptionData
from rmqcore.model.topic import SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.bodies import (
    ClientConnection,
    ClusterInfo,
    ConsumeOffset,
    ConsumerConnection,
    ConsumerOffsets,
    ConsumerRunningInfo,
    ConsumeTimeSpan,
    DataVersion,
    ProcessQueueInfo,
    SubscriptionGroupTable,
    TopicConfigTable,
    TopicOffset,
    WireQueue,
    encode_cluster_info,
    encode_consume_stats,
    encode_consume_time_spans,
    encode_consumer_connection,
    encode_consumer_offsets,
    encode_consumer_running_info,
    encode_group_table,
    encode_topic_config_table,
    encode_topic_stats,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.channel import Channel
from rmqcore.transport.server import Server

Answer = RemotingCommand | None | Awaitable[RemotingCommand | None]
Fault = Callable[[RemotingCommand], Answer]
Offsets = dict[int, tuple[int, int]]
"""Queue id to oldest and newest offset."""


def busy(request: RemotingCommand) -> Answer:
    return request.response(ResponseCode.SYSTEM_BUSY, "[OVERLOAD] too many requests")


def denied(request: RemotingCommand) -> Answer:
    return request.response(ResponseCode.NO_PERMISSION, "signature is wrong")


def failed(request: RemotingCommand) -> Answer:
    return request.response(ResponseCode.SYSTEM_ERROR, "something broke")


def garbage(request: RemotingCommand) -> Answer:
    return request.response(body=b'{"half a bo')


def silent(_request: RemotingCommand) -> Answer:
    return None


def late(seconds: float) -> Fault:
    async def answer(request: RemotingCommand) -> RemotingCommand | None:
        await asyncio.sleep(seconds)
        return busy(request)  # type: ignore[return-value]

    return answer


class ScriptedServer:
    """Answers from a table of request codes; remembers every request."""

    def __init__(self, address: str = "127.0.0.1:0") -> None:
        self.requests: list[RemotingCommand] = []
        self.faults: dict[int, Fault] = {}
        self.answers: dict[int, Callable[[RemotingCommand], Answer]] = {}
        host, _, port = address.rpartition(":")
        self._server = Server(self._handle, host=host, port=int(port))

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    @property
    def address(self) -> str:
        return self._server.address

    async def stop(self) -> None:
        await self._server.stop()

    def asked(self, code: int) -> list[RemotingCommand]:
        return [request for request in self.requests if request.code == code]

    def fault_everywhere(self, fault: Fault) -> None:
        self.faults = dict.fromkeys(map(int, Code), fault)

    def _handle(self, _channel: Channel, request: RemotingCommand) -> Answer:
        self.requests.append(request)
        fault = self.faults.get(request.code)
        if fault is not None:
            return fault(request)
        answer = self.answers.get(request.code)
        if answer is None:
            return request.response(ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
        return answer(request)


@dataclass
class Contents:
    """What a scripted broker holds."""

    topics: dict[str, Offsets] = field(default_factory=dict)
    configs: dict[str, TopicConfig] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    committed: dict[str, dict[int, int]] = field(default_factory=dict)
    members: dict[str, ConsumerConnection] = field(default_factory=dict)
    running: dict[str, ConsumerRunningInfo] = field(default_factory=dict)
    delays: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    pulled: dict[str, dict[tuple[str, int], int]] = field(default_factory=dict)
    pages: bool = False
    version: int = 1


class ScriptedBroker(ScriptedServer):
    """A broker with the contents given."""

    def __init__(
        self,
        name: str = "broker-a",
        contents: Contents | None = None,
        address: str = "127.0.0.1:0",
    ) -> None:
        super().__init__(address)
        self.name = name
        self.contents = contents or Contents()
        self.answers = {
            Code.GET_ALL_TOPIC_CONFIG: self._topics,
            Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self._groups,
            Code.GET_ALL_CONSUMER_OFFSET: self._offsets,
            Code.GET_TOPIC_STATS_INFO: self._stats,
            Code.GET_CONSUMER_CONNECTION_LIST: self._members,
            Code.GET_CONSUMER_RUNNING_INFO: self._running,
            Code.QUERY_CONSUME_TIME_SPAN: self._spans,
            Code.GET_CONSUME_STATS: self._consumed,
        }

    def _unchanged(self, request: RemotingCommand) -> bool:
        asked = request.ext_fields.get("dataVersion", "")
        return self.contents.pages and f'"counter":{self.contents.version},' in asked

    def _total(self, name: str, count: int) -> dict[str, str]:
        return {name: str(count)} if self.contents.pages else {}

    def _topics(self, request: RemotingCommand) -> Answer:
        held = self.contents
        configs = {
            name: held.configs.get(name) or TopicConfig(name, len(queues), len(queues))
            for name, queues in held.topics.items()
        }
        listed = {} if self._unchanged(request) else configs
        version = DataVersion(counter=held.version)
        return request.response(
            ext_fields=self._total("totalTopicNum", len(configs)),
            body=encode_topic_config_table(TopicConfigTable(listed, version)),
        )

    def _groups(self, request: RemotingCommand) -> Answer:
        held = self.contents
        names = set() if self._unchanged(request) else held.groups
        groups = {name: SubscriptionGroupConfig(name) for name in names}
        version = DataVersion(counter=held.version)
        return request.response(
            ext_fields=self._total("totalGroupNum", len(held.groups)),
            body=encode_group_table(SubscriptionGroupTable(groups, version)),
        )

    def _offsets(self, request: RemotingCommand) -> Answer:
        body = encode_consumer_offsets(ConsumerOffsets(self.contents.committed))
        return request.response(body=body)

    def _stats(self, request: RemotingCommand) -> Answer:
        topic = request.ext_fields["topic"]
        queues = self.contents.topics.get(topic)
        if queues is None:
            return request.response(ResponseCode.TOPIC_NOT_EXIST, "no such topic")
        offsets = {
            MessageQueue(topic, self.name, queue_id): TopicOffset(0, high, low)
            for queue_id, (low, high) in queues.items()
        }
        return request.response(body=encode_topic_stats(offsets))

    def _members(self, request: RemotingCommand) -> Answer:
        group = request.ext_fields["consumerGroup"]
        members = self.contents.members.get(group)
        if members is None:
            return request.response(ResponseCode.CONSUMER_NOT_ONLINE, "not online")
        return request.response(body=encode_consumer_connection(members))

    def _running(self, request: RemotingCommand) -> Answer:
        info = self.contents.running.get(request.ext_fields["clientId"])
        if info is None:
            return request.response(ResponseCode.SYSTEM_ERROR, "client not online")
        return request.response(body=encode_consumer_running_info(info))

    def _spans(self, request: RemotingCommand) -> Answer:
        topic, group = request.ext_fields["topic"], request.ext_fields["group"]
        spans = [
            ConsumeTimeSpan(
                message_queue=WireQueue(self.name, queue_id, topic), delay_time=delay
            )
            for queue_id, delay in self.contents.delays.get((group, topic), {}).items()
        ]
        return request.response(body=encode_consume_time_spans(spans))

    def _consumed(self, request: RemotingCommand) -> Answer:
        pulled = self.contents.pulled.get(request.ext_fields["consumerGroup"], {})
        offsets = {
            MessageQueue(topic, self.name, queue_id): ConsumeOffset(
                broker_offset=0, consumer_offset=0, last_timestamp=0, pull_offset=offset
            )
            for (topic, queue_id), offset in pulled.items()
        }
        return request.response(body=encode_consume_stats(offsets))


class ScriptedNameServer(ScriptedServer):
    """A name server that knows the brokers given, by id and address."""

    def __init__(self, *brokers: BrokerData) -> None:
        super().__init__()
        self.brokers = list(brokers)
        self.answers = {Code.GET_BROKER_CLUSTER_INFO: self._cluster_info}

    def _cluster_info(self, request: RemotingCommand) -> Answer:
        names = tuple(broker.broker_name for broker in self.brokers)
        info = ClusterInfo(
            {broker.broker_name: broker for broker in self.brokers}, {"C": names}
        )
        return request.response(body=encode_cluster_info(info))


def broker_data(*servers: ScriptedServer, name: str = "broker-a") -> BrokerData:
    """Return a broker's addresses, the master's first."""
    return BrokerData(
        "C", name, {number: server.address for number, server in enumerate(servers)}
    )


def members_of(
    *client_ids: str,
    topics: dict[str, str] | None = None,
    consume_type: ConsumeType = ConsumeType.PUSH,
    mode: MessageModel = MessageModel.CLUSTERING,
) -> ConsumerConnection:
    """Return a group's members, subscribed to topics by their expressions."""
    return ConsumerConnection(
        tuple(
            ClientConnection(f"10.0.0.{number}:1000", client_id, "JAVA", 513)
            for number, client_id in enumerate(client_ids)
        ),
        {
            topic: SubscriptionData(topic, expression, sub_version=1)
            for topic, expression in (topics or {"T": "*"}).items()
        },
        consume_type,
        mode,
    )


def running_info(
    *queues: tuple[str, str, int],
    strategy: str = "AllocateMessageQueueAveragely",
    in_hand: int = 0,
    topics: dict[str, str] | None = None,
) -> ConsumerRunningInfo:
    """Return what a client that holds these queues says."""
    return ConsumerRunningInfo(
        {
            "PROP_CONSUMEORDERLY": "false",
            "PROP_CONSUMER_START_TIMESTAMP": "1700000000000",
            "allocateMessageQueueStrategy": f"org.example.{strategy}@1a2b",
        },
        {
            MessageQueue(*queue): ProcessQueueInfo(cached_msg_count=in_hand)
            for queue in queues
        },
        tuple(
            SubscriptionData(topic, expression)
            for topic, expression in (topics or {"T": "*"}).items()
        ),
    )
