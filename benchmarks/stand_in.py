"""A stand-in for large brokers: answers what a sweep asks, from bytes made before.

    python -m benchmarks.stand_in --clusters 1 --groups 10000 --topics 1000 --queues 8

Each cluster has one broker, which is its name server, too. Its answers have the shape
of Apache 5's, so that a client's work is the same; answering takes little, since there
is nothing behind them: no store, and no thread for each request. Each group consumes
two topics with `--members` members (none: all are offline).

The addresses are printed as one line of JSON. A line of input, "move N", lets one N-th
of the topics and of the groups' offsets move, each time another part ("move 0":
nothing); "moved" is the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import struct
import subprocess
import sys
from functools import partial
from typing import IO, Final

import orjson

from rmqcore.model import ConsumeType, MessageModel, MessageQueue, SubscriptionData
from rmqcore.model.route import BrokerData
from rmqcore.protocol.bodies import (
    ClientConnection,
    ClusterInfo,
    ConsumerConnection,
    ConsumerRunningInfo,
    ProcessQueueInfo,
    encode_cluster_info,
    encode_consumer_connection,
    encode_consumer_running_info,
)
from rmqcore.protocol.codes import VERSION_ORDINAL, RequestCode, ResponseCode

SHAPE: Final = {
    "clusters": 1,
    "groups": 10_000,
    "topics": 1000,
    "queues": 8,
    "members": 2,
}
"""Groups and topics are those of each cluster, queues of each topic, members of each
group."""
TOPICS_OF_A_GROUP: Final = 2
BROKER: Final = "broker-a"
LAG: Final = 3
_LENGTHS: Final = struct.Struct(">II")
_VERSION: Final = b'{"counter":1,"stateVersion":0,"timestamp":1700000000000}'
_NO_FIELDS: Final[dict[str, str]] = {}
_LANGUAGE: Final = "JAVA"


class Broker:
    """One broker's tables, as the bodies of its answers."""

    def __init__(self, options: argparse.Namespace, cluster: str) -> None:
        self.cluster = cluster
        self.address = ""
        self.topics = [f"topic-{n:05d}" for n in range(options.topics)]
        self.groups = [f"group-{n:05d}" for n in range(options.groups)]
        self.queues: int = options.queues
        self.members: int = options.members
        self._high = [[1_000_000] * self.queues for _ in self.topics]
        self._done = [self._of_group(n) for n in range(len(self.groups))]
        self._moves = 0
        self._stats = dict.fromkeys(self.topics, b"")
        self._entries = [b""] * len(self.groups)
        self._offsets = b""
        for topic in range(len(self.topics)):
            self._write_stats(topic)
        for group in range(len(self.groups)):
            self._write_entries(group)
        self._write_offsets()
        self._connected = {
            name: encode_consumer_connection(self._connections(number))
            for number, name in enumerate(self.groups)
        }
        self._listed_topics, self._listed_groups = self._listings()

    def move(self, parts: int) -> None:
        """Let one of so many parts of the topics and of the groups move."""
        if not parts:
            return
        part = self._moves % parts
        self._moves += 1
        size = len(self.topics) // parts
        moved = range(part * size, (part + 1) * size)
        for topic in moved:
            self._high[topic] = [each + 7 for each in self._high[topic]]
            self._write_stats(topic)
        for group in range(len(self.groups)):
            if group * TOPICS_OF_A_GROUP % len(self.topics) in moved:
                self._done[group] = self._of_group(group)
                self._write_entries(group)
        self._write_offsets()

    def answer(
        self, code: int, fields: dict[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        """Return the code, the fields and the body of an answer."""
        if code == RequestCode.GET_CONSUMER_CONNECTION_LIST:
            if not self.members:
                return ResponseCode.CONSUMER_NOT_ONLINE, _NO_FIELDS, b""
            return 0, _NO_FIELDS, self._connected[fields["consumerGroup"]]
        if code == RequestCode.GET_TOPIC_STATS_INFO:
            return 0, _NO_FIELDS, self._stats[fields["topic"]]
        if code == RequestCode.GET_ALL_CONSUMER_OFFSET:
            return 0, _NO_FIELDS, self._offsets
        if code == RequestCode.GET_ALL_TOPIC_CONFIG:
            body = _empty(b"topicConfigTable") if fields else self._listed_topics
            return 0, {"totalTopicNum": str(len(self.topics))}, body
        if code == RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG:
            body = _empty(b"subscriptionGroupTable") if fields else self._listed_groups
            return 0, {"totalGroupNum": str(len(self.groups))}, body
        if code == RequestCode.GET_CONSUMER_RUNNING_INFO:
            return 0, _NO_FIELDS, self._running(**fields)
        if code == RequestCode.GET_BROKER_CLUSTER_INFO:
            data = BrokerData(self.cluster, BROKER, {0: self.address})
            info = ClusterInfo({BROKER: data}, {self.cluster: (BROKER,)})
            return 0, _NO_FIELDS, encode_cluster_info(info)
        return ResponseCode.REQUEST_CODE_NOT_SUPPORTED, _NO_FIELDS, b""

    def _topics_of(self, group: int) -> list[int]:
        first = group * TOPICS_OF_A_GROUP
        return [(first + n) % len(self.topics) for n in range(TOPICS_OF_A_GROUP)]

    def _of_group(self, group: int) -> list[list[int]]:
        behind = LAG if group % 10 == 0 else 0
        return [
            [high - behind for high in self._high[topic]]
            for topic in self._topics_of(group)
        ]

    def _write_stats(self, topic: int) -> None:
        name = self.topics[topic]
        rows = ",".join(
            f'{{"brokerName":"{BROKER}","queueId":{queue},"topic":"{name}"}}:'
            f'{{"lastUpdateTimestamp":1700000000000,"maxOffset":{high},"minOffset":0}}'
            for queue, high in enumerate(self._high[topic])
        )
        text = f'{{"offsetTable":{{{rows}}},"topicPutTps":0.0}}'
        self._stats[name] = text.encode()

    def _write_entries(self, group: int) -> None:
        self._entries[group] = ",".join(
            f'"{self.topics[topic]}@{self.groups[group]}":{{'
            + ",".join(f"{queue}:{done}" for queue, done in enumerate(offsets))
            + "}"
            for topic, offsets in zip(
                self._topics_of(group), self._done[group], strict=True
            )
        ).encode()

    def _write_offsets(self) -> None:
        table = b",".join(self._entries)
        pulled = table if self.members else b""
        self._offsets = b"".join(
            (
                *(b'{"dataVersion":', _VERSION, b',"offsetTable":{', table),
                *(b'},"pullOffsetTable":{', pulled, b"}}"),
            )
        )

    def _clients(self, group: int) -> list[str]:
        return [
            f"10.{group % 200}.{group // 200}.{n}@{4000 + n}#{17 * 10**14 + group}"
            for n in range(self.members)
        ]

    def _subscriptions(self, group: int) -> list[SubscriptionData]:
        return [
            SubscriptionData(self.topics[topic], "*", sub_version=1_700_000_000_000)
            for topic in self._topics_of(group)
        ]

    def _connections(self, group: int) -> ConsumerConnection:
        return ConsumerConnection(
            tuple(
                ClientConnection(f"/10.0.0.1:{30000 + n}", client, _LANGUAGE, 505)
                for n, client in enumerate(self._clients(group))
            ),
            {each.topic: each for each in self._subscriptions(group)},
            ConsumeType.PUSH,
            MessageModel.CLUSTERING,
        )

    def _running(self, consumerGroup: str, clientId: str, **_others: str) -> bytes:  # noqa: N803 - RocketMQ's names of fields
        group = int(consumerGroup.rpartition("-")[2])
        mine = self._clients(group).index(clientId)
        share = self.queues // self.members
        held = {
            MessageQueue(self.topics[topic], BROKER, queue): ProcessQueueInfo()
            for topic in self._topics_of(group)
            for queue in range(mine * share, (mine + 1) * share)
        }
        properties = {
            "allocateMessageQueueStrategy": "AVG",
            "messageModel": "CLUSTERING",
            "PROP_CONSUME_TYPE": "CONSUME_PASSIVELY",
            "PROP_CONSUMEORDERLY": "false",
            "PROP_CONSUMER_START_TIMESTAMP": "1700000000000",
        }
        info = ConsumerRunningInfo(properties, held, tuple(self._subscriptions(group)))
        return encode_consumer_running_info(info)

    def _listings(self) -> tuple[bytes, bytes]:
        topics = {
            name: {
                "topicName": name,
                "readQueueNums": self.queues,
                "writeQueueNums": self.queues,
                "perm": 6,
            }
            for name in self.topics
        }
        groups = {name: {"groupName": name} for name in self.groups}
        version = orjson.Fragment(_VERSION)
        return (
            orjson.dumps({"dataVersion": version, "topicConfigTable": topics}),
            orjson.dumps({"dataVersion": version, "subscriptionGroupTable": groups}),
        )


def _empty(table: bytes) -> bytes:
    return b'{"dataVersion":' + _VERSION + b',"' + table + b'":{}}'


class Peer(asyncio.Protocol):
    """One connection to a broker; answers leave in one write for each read."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._read = bytearray()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self._read += data
        answers: list[bytes] = []
        at, read = 0, self._read
        while len(read) - at >= _LENGTHS.size:
            length, header = _LENGTHS.unpack_from(read, at)
            if len(read) - at < length + 4:
                break
            request = orjson.loads(read[at + 8 : at + 8 + (header & 0xFFFFFF)])
            at += length + 4
            if not request["flag"] & 2:
                answers += self._frame(request)
        del read[:at]
        self._transport.writelines(answers)

    def _frame(self, request: dict[str, int]) -> tuple[bytes, bytes, bytes]:
        fields: dict[str, str] = request.get("extFields", {})  # type: ignore[assignment]
        code, told, body = self._broker.answer(request["code"], fields)
        header = orjson.dumps(
            {
                "code": code,
                "extFields": told,
                "flag": 1,
                "language": _LANGUAGE,
                "opaque": request["opaque"],
                "serializeTypeCurrentRPC": "JSON",
                "version": VERSION_ORDINAL,
            }
        )
        total = 4 + len(header) + len(body)
        return _LENGTHS.pack(total, len(header)), header, body


def add_shape(parser: argparse.ArgumentParser, **defaults: int) -> None:
    """Add the options that say how large the clusters are."""
    for name, default in (SHAPE | defaults).items():
        parser.add_argument(f"--{name}", type=int, default=default)


def shape_of(options: argparse.Namespace) -> dict[str, int]:
    """Return how large the clusters are to be."""
    return {name: getattr(options, name) for name in SHAPE}


class StandIn:
    """The handle of a process of this module, for clusters of a shape."""

    def __init__(self, **shape: int) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", __spec__.name),
                *(f"--{name}={value}" for name, value in shape.items()),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addresses: list[str] = orjson.loads(self._line())

    def move(self, parts: int) -> None:
        """Let one of so many parts move, and wait until it has."""
        told = self._pipe(self._process.stdin)
        told.write(f"move {parts}\n")
        told.flush()
        self._line()

    def end(self) -> None:
        """End the process."""
        with self._process:  # which closes the pipes and waits
            self._process.kill()

    def _line(self) -> str:
        return self._pipe(self._process.stdout).readline()

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


async def serve(options: argparse.Namespace) -> None:
    """Serve until the input ends."""
    loop = asyncio.get_running_loop()
    brokers = [Broker(options, f"cluster-{n}") for n in range(options.clusters)]
    for broker in brokers:
        server = await loop.create_server(partial(Peer, broker), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        broker.address = f"127.0.0.1:{port}"
    print(orjson.dumps([each.address for each in brokers]).decode(), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        for broker in brokers:
            broker.move(int(line.split()[1]))
        print("moved", flush=True)


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_shape(parser)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
