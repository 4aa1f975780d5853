"""What one producer and one consumer process do beside an embedded broker.

    python -m benchmarks.client [--messages 100000] [--size 128] [--queues 8]

The broker runs in a process of its own. "cpu" is processor time of the client process
per message: on a busy machine the clock also counts waiting for others. Floors are for
two idle cores and 128 bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    Listener,
    Producer,
    PushConsumer,
)
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt

BATCH: Final = 32
TOPIC: Final = "bench"
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

    def line(self) -> str:
        """Return the line, with its floor where there is one."""
        rate = self.messages / self.seconds
        cpu_us = self.cpu_seconds / self.messages * 1e6
        floor = FLOORS.get(self.name)
        verdict = "" if floor is None else f"  floor {floor:>7,}"
        return f"{self.name:32} {rate:>10,.0f}/s  cpu {cpu_us:6.1f} µs{verdict}"


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


async def send_all(nameserver: str, count: int, size: int) -> list[Measured]:
    """Send by each way; `count` messages in batches, fewer one by one."""
    body = b"x" * size
    few = max(count // 50, 1)
    some = max(count // 4, 1)

    async with Producer(nameserver, group="bench") as producer:
        await producer.publish_queues(TOPIC)

        async def one_by_one() -> None:
            for _ in range(few):
                await producer.send(Message(TOPIC, body))

        async def asynchronous() -> None:
            futures = [
                await producer.send_async(Message(TOPIC, body)) for _ in range(some)
            ]
            await asyncio.gather(*futures)

        async def in_batches() -> None:
            for _ in range(count // BATCH):
                await producer.send_batch([Message(TOPIC, body)] * BATCH)

        return [
            await measure("send, one after another", few, one_by_one),
            await measure("send, asynchronous", some, asynchronous),
            await measure(
                f"send, batches of {BATCH}", count // BATCH * BATCH, in_batches
            ),
        ]


class Counting:
    """Listeners that count, and an event for when all have come."""

    def __init__(self, total: int) -> None:
        self._left = total
        self._loop = asyncio.get_running_loop()
        self.done = asyncio.Event()

    async def coroutine(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Count on the event loop."""
        self._count(len(messages))
        return ConsumeResult.SUCCESS

    def plain(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Count in whichever thread."""
        self._loop.call_soon_threadsafe(self._count, len(messages))
        return ConsumeResult.SUCCESS

    def _count(self, count: int) -> None:
        self._left -= count
        if self._left <= 0:
            self.done.set()


async def consume_all(nameserver: str, total: int) -> list[Measured]:
    """Consume everything three times: on the loop, in place, in threads."""
    results = []
    for name, way, blocking in (
        ("consume, coroutine listener", "coroutine", False),
        ("consume, plain, not blocking", "plain", False),
        ("consume, plain, in threads", "plain", True),
    ):
        counting = Counting(total)
        listener: Listener = getattr(counting, way)
        consumer = PushConsumer(
            nameserver,
            group=f"bench-{len(results)}",
            listener=listener,
            blocking=blocking,
            consume_from_where="CONSUME_FROM_FIRST_OFFSET",
        )
        consumer.subscribe(TOPIC)
        async with consumer:
            results.append(await measure(name, total, counting.done.wait))
    return results


async def run(nameserver: str, count: int, size: int) -> None:
    """Send, then consume, and print as results come."""
    sent = await send_all(nameserver, count, size)
    print("\n".join(result.line() for result in sent), flush=True)
    total = sum(result.messages for result in sent)
    for result in await consume_all(nameserver, total):
        print(result.line(), flush=True)


def main() -> None:
    """Start the broker's process and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--size", type=int, default=128, help="bytes of a body")
    parser.add_argument("--queues", type=int, default=8)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    broker = multiprocessing.Process(target=serve, args=(options.queues, theirs))
    broker.start()
    try:
        nameserver = ours.recv()
        print(f"{options.messages:,} messages of {options.size} bytes, 1 broker")
        asyncio.run(run(nameserver, options.messages, options.size))
    finally:
        ours.send("stop")
        broker.join()


if __name__ == "__main__":
    main()
