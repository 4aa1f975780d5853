"""How much one producer and one consumer process do with an embedded broker.

    python -m benchmarks.client [--messages 100000] [--size 128] [--queues 8] [--apache]

The broker runs in a process of its own. "cpu" is processor time of the client process
per message: on a busy machine the clock also counts waiting for others. Floors are for
two idle cores and 128 bytes.

With `--apache` the broker is Apache's, and a Java producer and consumer do the same
with it, in a JVM that has been warmed up, as the broker has been; "of Java" is our rate
divided by theirs. If other processes need the processor, a JVM with its many threads is
given more of it than our single thread: then only processor time shows how the two
compare.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rmqcore.admin import Admin
from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    Listener,
    Producer,
    PushConsumer,
)
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt
from tests.support.apache import java_command, start_cluster
from tests.support.jars import rocketmq_version
from tests.support.java_driver import compiled
from tests.support.json_lines import JsonLines

BATCH: Final = 32
TOPIC: Final = "bench"
OTHER_TOPIC: Final = "bench-java"
"""What warms up, and what Java sends; both consume what we sent."""
JAVA_S: Final = 600.0
FLOORS: Final = {
    "send, asynchronous": 15_000,
    "send, batches of 32": 60_000,
    "consume, coroutine listener": 40_000,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the report."""

    name: str
    messages: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Messages per second."""
        return self.messages / self.seconds

    @property
    def cpu_us(self) -> float:
        """Processor time per message, in microseconds."""
        return self.cpu_seconds / self.messages * 1e6

    def line(self, theirs: Measured | None = None) -> str:
        """Return the line, with its floor and what Java did where there is one."""
        line = f"{self.name:32} {self.rate:>10,.0f}/s  cpu {self.cpu_us:6.1f} µs"
        floor = FLOORS.get(self.name)
        if floor is not None:
            line += f"  floor {floor:>7,}"
        if theirs is not None:
            line = (
                f"{line:74} cpu {self.cpu_us / theirs.cpu_us:5.2f}  "
                f"rate {self.rate / theirs.rate:5.2f} of Java"
            )
        return line


def serve(queues: int, told: Connection) -> None:
    """Run a cluster until the other end says stop."""

    async def run() -> None:
        async with LocalCluster() as cluster:
            await cluster.create_topic(TOPIC, queues)
            told.send(cluster.nameserver_address)
            await asyncio.to_thread(told.recv)

    asyncio.run(run())


async def measure(
    name: str, messages: int, work: Callable[[], Awaitable[object]]
) -> Measured:
    """Time a piece of work by the clock and by the processor."""
    began, cpu_began = time.perf_counter(), time.process_time()
    await work()
    return Measured(
        name,
        messages,
        time.perf_counter() - began,
        time.process_time() - cpu_began,
    )


async def send_all(
    nameserver: str, count: int, size: int, topic: str = TOPIC
) -> list[Measured]:
    """Send by each way; `count` messages in batches, fewer one by one."""
    body = b"x" * size
    few = max(count // 50, 1)
    some = max(count // 4, 1)

    async with Producer(nameserver, group="bench") as producer:
        await producer.publish_queues(topic)

        async def one_by_one() -> None:
            for _ in range(few):
                await producer.send(Message(topic, body))

        async def asynchronous() -> None:
            futures = [
                await producer.send_async(Message(topic, body)) for _ in range(some)
            ]
            await asyncio.gather(*futures)

        async def in_batches() -> None:
            for _ in range(count // BATCH):
                await producer.send_batch([Message(topic, body)] * BATCH)

        return [
            await measure("send, one after another", few, one_by_one),
            await measure("send, asynchronous", some, asynchronous),
            await measure(
                f"send, batches of {BATCH}", count // BATCH * BATCH, in_batches
            ),
        ]


class Counting:
    """Listeners that count, and an event that is set when all have come."""

    def __init__(self, total: int) -> None:
        self._left = total
        self._counting = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self.done = asyncio.Event()

    async def coroutine(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Count on the event loop."""
        self._left -= len(messages)
        if self._left <= 0:
            self.done.set()
        return ConsumeResult.SUCCESS

    def plain(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Count in whichever thread."""
        with self._counting:
            self._left -= len(messages)
            if self._left <= 0:
                self._loop.call_soon_threadsafe(self.done.set)
        return ConsumeResult.SUCCESS


async def consume_all(
    nameserver: str, total: int, topic: str = TOPIC
) -> list[Measured]:
    """Consume everything three times: on the loop, in place, in threads."""
    results: list[Measured] = []
    for name, way, blocking in (
        ("consume, coroutine listener", "coroutine", False),
        ("consume, plain, not blocking", "plain", False),
        ("consume, plain, in threads", "plain", True),
    ):
        counting = Counting(total)
        listener: Listener = getattr(counting, way)
        consumer = PushConsumer(
            nameserver,
            group=f"{topic}-{len(results)}",
            listener=listener,
            blocking=blocking,
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        )
        consumer.subscribe(topic)
        async with consumer:
            results.append(await measure(name, total, counting.done.wait))
    return results


async def warm_up(nameserver: str, count: int, size: int) -> None:
    """Let a broker that compiles as it runs do so: what follows is not the first."""
    sent = await send_all(nameserver, count, size, OTHER_TOPIC)
    await consume_all(nameserver, sum(each.messages for each in sent), OTHER_TOPIC)


async def run(nameserver: str, count: int, size: int) -> list[Measured]:
    """Send, then consume, and print as results come."""
    sent = await send_all(nameserver, count, size)
    print("\n".join(result.line() for result in sent), flush=True)
    total = sum(result.messages for result in sent)
    consumed = await consume_all(nameserver, total)
    print("\n".join(result.line() for result in consumed), flush=True)
    return sent + consumed


def run_java(
    nameserver: str, directory: Path, *, total: int, count: int, size: int
) -> dict[str, Measured]:
    """Let Java send as much, and consume the same `total` messages, by name."""
    version = rocketmq_version()
    arguments = (nameserver, OTHER_TOPIC, TOPIC, total, count, size)
    command = java_command(directory, version, compiled(version))
    with JsonLines(
        [*command, "-Xmx512m", "Speed", *map(str, arguments)], log=directory / "stderr"
    ) as java:
        last = java.wait_for(lambda event: event["name"] == "consume", timeout=JAVA_S)
        measured = [
            Measured(e["name"], e["messages"], e["seconds"], e["cpu_seconds"])
            for e in java.events("measured")
        ]
        assert last in java.events("measured")
    return {each.name: each for each in measured}


def compare(ours: Sequence[Measured], theirs: Mapping[str, Measured]) -> str:
    """Return Java's lines, and ours beside them."""
    java = [f"{each.line()}".replace("floor", "     ") for each in theirs.values()]
    beside = [
        each.line(theirs[each.name.partition(", c")[0].partition(", p")[0]])
        for each in ours
    ]
    return "\n".join(["Java", *java, "rmqcore", *beside])


@contextmanager
def embedded(queues: int) -> Iterator[str]:
    """Run our cluster in a process of its own; yield its name server."""
    ours, theirs = multiprocessing.Pipe()
    broker = multiprocessing.Process(target=serve, args=(queues, theirs))
    broker.start()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        broker.join()


@contextmanager
def apache(queues: int, directory: Path) -> Iterator[str]:
    """Run Apache's cluster; yield its name server."""

    async def create_topics(nameserver: str) -> None:
        async with Admin(nameserver, timeout=20) as admin:
            for topic in (TOPIC, OTHER_TOPIC):
                await admin.create_topic(topic, queues)

    with start_cluster(directory) as cluster:
        asyncio.run(create_topics(cluster.nameserver))
        yield cluster.nameserver


def main() -> None:
    """Start the broker's process and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=128, help="bytes of a body")
    parser.add_argument("--queues", type=int, default=8)
    parser.add_argument("--apache", action="store_true", help="and Java's clients")
    options = parser.parse_args()
    print(f"{options.messages:,} messages of {options.size} bytes, 1 broker")
    if not options.apache:
        with embedded(options.queues) as nameserver:
            asyncio.run(run(nameserver, options.messages, options.size))
        return
    with (
        TemporaryDirectory() as directory,
        apache(options.queues, Path(directory)) as nameserver,
    ):
        asyncio.run(warm_up(nameserver, options.messages, options.size))
        ours = asyncio.run(run(nameserver, options.messages, options.size))
        theirs = run_java(
            nameserver,
            Path(directory) / "java",
            total=sum(m.messages for m in ours if m.name.startswith("send")),
            count=options.messages,
            size=options.size,
        )
        print(compare(ours, theirs))


if __name__ == "__main__":
    main()
