"""How long a snapshot of a large Apache RocketMQ takes, compared with other ways.

    python -m benchmarks.snapshot [--topics 900] [--groups 2300] [--repeat 15] [--check]

Starts an Apache broker (fetched as the tests do; needs java and mvn) with `--topics` ×
`--queues` queues that hold messages, and `--groups` groups that have committed offsets
on two topics each. In one run, on warm connections, it measures

- the snapshot: topics, queue offsets, groups, members, committed offsets, lag, decoded;
- the same requests with answers thrown away: what the broker and the wire cost;
- two calls per group (203 and 208), one awaited after another, decoded: the usual way;
- the snapshot of a cluster that also has a broker which is busy, late or silent.

"wall" is the clock, "cpu" this process's own time; on a busy machine only ratios of
the same run mean much. `--check` fails unless the snapshot needs at most 0.5 s and the
usual way at least 20 times as long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.line import Line
from rmqcore.model.message import Message
from rmqcore.model.route import BrokerData
from rmqcore.protocol.batch import encode_batch
from rmqcore.protocol.bodies import (
    ClusterInfo,
    decode_consume_stats,
    decode_consumer_connection,
    encode_cluster_info,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import SendMessageRequestHeader, encode_header
from rmqcore.transport import ChannelPool, Server
from rmqcore.transport.channel import Answer, Channel
from tests.support.apache import ApacheCluster, start_cluster

LIMIT_S: Final = 0.5
RATIO: Final = 20.0
TOPICS_OF_A_GROUP: Final = 2
LATE_S: Final = 2.0
SETTINGS: Final = {"mappedFileSizeConsumeQueue": 20_000}
WARM_UP_GROUPS: Final = 500


@dataclass(frozen=True, slots=True)
class Size:
    """How much the cluster holds."""

    topics: int
    queues: int
    groups: int
    messages: int

    @property
    def topic_names(self) -> list[str]:
        """All topics."""
        return [f"topic-{number:05d}" for number in range(self.topics)]

    @property
    def group_names(self) -> list[str]:
        """All groups."""
        return [f"group-{number:05d}" for number in range(self.groups)]

    def topics_of(self, group: int) -> list[str]:
        """Return the topics that a group consumes."""
        names = self.topic_names
        return [
            names[(group * TOPICS_OF_A_GROUP + number) % self.topics]
            for number in range(TOPICS_OF_A_GROUP)
        ]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one piece of work, by the clock and of this process."""

    wall: float
    cpu: float


# The cluster


def seed(size: Size) -> Callable[[str, Path], None]:
    """Return what writes a broker's configuration before it starts."""
    rng = Random(20)

    def write(_broker: str, config: Path) -> None:
        version = {"counter": 1, "stateVersion": 0, "timestamp": 1_700_000_000_000}
        topics = {
            name: {
                "topicName": name,
                "readQueueNums": size.queues,
                "writeQueueNums": size.queues,
                "perm": 6,
            }
            for name in size.topic_names
        }
        groups = {name: {"groupName": name} for name in size.group_names}
        offsets = {
            f"{topic}@{name}": {
                queue: rng.randint(0, size.messages) for queue in range(size.queues)
            }
            for number, name in enumerate(size.group_names)
            for topic in size.topics_of(number)
        }
        for file, table, content in (
            ("topics", "topicConfigTable", topics),
            ("subscriptionGroup", "subscriptionGroupTable", groups),
            ("consumerOffset", "offsetTable", offsets),
        ):
            (config / f"{file}.json").write_text(
                json.dumps({table: content, "dataVersion": version})
            )

    return write


async def fill(address: str, size: Size) -> None:
    """Send messages into every queue, pipelined."""
    body = encode_batch([Message("T", b"x" * 100)] * size.messages)

    def request(topic: str, queue: int) -> RemotingCommand:
        header = SendMessageRequestHeader(
            producer_group="benchmark",
            topic=topic,
            default_topic="TBW102",
            default_topic_queue_nums=size.queues,
            queue_id=queue,
            sys_flag=0,
            born_timestamp=1_700_000_000_000,
            flag=0,
            batch=True,
        )
        fields = encode_header(header, short_names=True)
        return RemotingCommand.request(Code.SEND_BATCH_MESSAGE, fields, body)

    refused: list[str | None] = []

    def take(_: None, answer: RemotingCommand) -> None:
        if answer.code != ResponseCode.SUCCESS:
            refused.append(answer.remark)

    pool = ChannelPool()
    try:
        await Line(pool, [address], 60).ask_each(
            (
                (None, request(topic, queue))
                for topic in size.topic_names
                for queue in range(size.queues)
            ),
            take,
            window=16,
        )
    finally:
        await pool.close()
    if refused:
        raise RuntimeError(f"{len(refused)} sends were refused: {refused[0]}")


# What is measured


async def timed(work: Callable[[], Awaitable[object]]) -> Times:
    """Return how long one run of the work takes."""
    wall, cpu = perf_counter(), process_time()
    await work()
    return Times(perf_counter() - wall, process_time() - cpu)


async def repeated(work: Callable[[], Awaitable[object]], times: int) -> Times:
    """Return the medians of several runs, after one that does not count."""
    await work()
    runs = [await timed(work) for _ in range(times)]
    return Times(median(r.wall for r in runs), median(r.cpu for r in runs))


async def snapshots(nameserver: str, repeat: int) -> Times:
    """Measure snapshots, each knowing the one before."""
    async with Admin(nameserver) as admin:
        previous = await admin.snapshot()

        async def take() -> None:
            nonlocal previous
            previous = await admin.snapshot(previous=previous)

        return await repeated(take, repeat)


async def undecoded(address: str, size: Size, repeat: int) -> Times:
    """Measure the requests of a snapshot alone, pipelined in the same way."""
    pool = ChannelPool()

    async def ask() -> None:
        line = Line(pool, [address], 60)
        await line.connect()
        await asyncio.gather(
            line.ask(RemotingCommand.request(Code.GET_ALL_CONSUMER_OFFSET)),
            _ask_all(line, Code.GET_TOPIC_STATS_INFO, "topic", size.topic_names),
            _ask_all(
                line,
                Code.GET_CONSUMER_CONNECTION_LIST,
                "consumerGroup",
                size.group_names,
            ),
        )

    try:
        return await repeated(ask, repeat)
    finally:
        await pool.close()


async def _ask_all(line: Line, code: Code, field: str, values: list[str]) -> None:
    await line.ask_each(
        ((None, RemotingCommand.request(code, {field: value})) for value in values),
        lambda _, answer: None,
    )


async def one_after_another(address: str, size: Size) -> Times:
    """Measure two calls for each group, each awaited before the next."""
    pool = ChannelPool()
    channel = await pool.channel(address)

    async def ask(groups: list[str]) -> None:
        for group in groups:
            fields = {"consumerGroup": group}
            members = await channel.request(
                RemotingCommand.request(Code.GET_CONSUMER_CONNECTION_LIST, fields)
            )
            if members.code == ResponseCode.SUCCESS:
                decode_consumer_connection(members.body)
            stats = await channel.request(
                RemotingCommand.request(Code.GET_CONSUME_STATS, fields)
            )
            decode_consume_stats(stats.body)

    try:
        await ask(size.group_names[:WARM_UP_GROUPS])
        return await timed(lambda: ask(size.group_names))
    finally:
        await pool.close()


# A broker that does not answer as it should


def _busy(_: Channel, request: RemotingCommand) -> Answer:
    return request.response(ResponseCode.SYSTEM_BUSY, "[OVERLOAD]")


def _silent(_: Channel, request: RemotingCommand) -> Answer:
    return None


async def _late(_: Channel, request: RemotingCommand) -> Answer:
    await asyncio.sleep(LATE_S)
    return request.response(ResponseCode.SYSTEM_BUSY, "[TIMEOUT_CLEAN_QUEUE]")


FAULTS: Final = {"busy": _busy, "late": _late, "silent": _silent}


@asynccontextmanager
async def nameserver_with(fault: str, healthy: str) -> AsyncIterator[str]:
    """Serve a cluster of the healthy broker and a faulty one; yield its address."""
    faulty = Server(FAULTS[fault])
    await faulty.start()
    brokers = {
        name: BrokerData("benchmark", name, {0: address})
        for name, address in (("broker-a", healthy), ("broker-b", faulty.address))
    }
    body = encode_cluster_info(ClusterInfo(brokers, {"benchmark": tuple(brokers)}))
    server = Server(lambda _, request: request.response(body=body))
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop()
        await faulty.stop()


async def beside(fault: str, healthy: str, repeat: int) -> tuple[Times, Times]:
    """Measure the first snapshot beside a faulty broker, and those that follow."""
    async with (
        nameserver_with(fault, healthy) as nameserver,
        Admin(nameserver) as admin,
    ):
        await admin._pool.channel(healthy)
        first = await timed(admin.snapshot)
        previous = await admin.snapshot()

        async def take() -> None:
            await admin.snapshot(previous=previous)

        return first, await repeated(take, repeat)


# The run


async def measure(cluster: ApacheCluster, size: Size, repeat: int) -> bool:
    """Measure everything and print it; return whether the goals are met."""
    (address,) = cluster.brokers.values()
    offsets = size.groups * TOPICS_OF_A_GROUP * size.queues
    print(
        f"Apache RocketMQ {cluster.version}, one broker: {size.topics} topics × "
        f"{size.queues} queues, {size.groups} groups, {offsets} offsets"
    )
    await fill(address, size)
    wire = await undecoded(address, size, repeat)
    _show("the same requests, answers thrown away", wire)
    ours = await snapshots(cluster.nameserver, repeat)
    share = max(0.0, ours.cpu - wire.cpu) / ours.wall
    _show("snapshot, warm", ours, f"decoding and joining {share:.0%}")
    usual = await one_after_another(address, size)
    ratio = usual.wall / ours.wall
    _show("two calls per group, in turn", usual, f"{ratio:.1f} times the snapshot")
    for fault in FAULTS:
        first, later = await beside(fault, address, repeat)
        _show(f"beside a broker that is {fault}, first", first)
        _show(f"beside a broker that is {fault}, then", later)
    return ours.wall <= LIMIT_S and ratio >= RATIO


def _show(what: str, times: Times, remark: str = "") -> None:
    wall, cpu = f"{times.wall * 1000:8.1f} ms", f"{times.cpu * 1000:8.1f} ms"
    print(f"{what:<42} wall {wall}  cpu {cpu}  {remark}".rstrip(), flush=True)


def main() -> int:
    """Run the benchmark as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--topics", type=int, default=900)
    parser.add_argument("--queues", type=int, default=8)
    parser.add_argument("--groups", type=int, default=2300)
    parser.add_argument("--messages", type=int, default=4, help="in each queue")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--check", action="store_true", help="fail below the goals")
    options = parser.parse_args()
    size = Size(options.topics, options.queues, options.groups, options.messages)
    with (
        tempfile.TemporaryDirectory(prefix="rocketscope-benchmark-") as directory,
        start_cluster(
            Path(directory), name="benchmark", settings=SETTINGS, seed=seed(size)
        ) as cluster,
    ):
        reached = asyncio.run(measure(cluster, size, options.repeat))
    if options.check and not reached:
        print(f"goals: at most {LIMIT_S} s, at least {RATIO:g} times", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
