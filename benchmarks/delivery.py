"""How long a message takes from its producer to its listener, on both brokers.

    python -m benchmarks.delivery [--messages 4000] [--rate 200] [--apache]

Our producer sends at an even pace, our consumer waits by long polling; both are in this
process, the broker is not. Each time begins before a message is given to the producer
and ends when the listener has it. The first tenth warms up and does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.client import TOPIC, apache, embedded
from rmqcore.client import ConsumeContext, ConsumeResult, Producer, PushConsumer
from rmqcore.model import Message, MessageExt

QUEUES = 8


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds from producer to listener, in order of length."""

    broker: str
    seconds: tuple[float, ...]

    def share(self, part: float) -> float:
        """Return the delay that a part of the messages, from 0 to 1, stayed within."""
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * part))]

    def line(self, other: Delays | None = None) -> str:
        """Return the line, and how the median compares with another's."""
        middle, most, nearly = (self.share(part) * 1e3 for part in (0.5, 0.95, 0.99))
        line = (
            f"{self.broker:9} median {middle:6.2f} ms   95 % {most:6.2f}"
            f"   99 % {nearly:6.2f}   longest {self.seconds[-1] * 1e3:6.2f}"
        )
        if other is not None:
            ratio = self.share(0.5) / other.share(0.5)
            line += f"   median by {other.broker}'s {ratio:.2f}"
        return line


class Arrivals:
    """A listener that notes when each message comes, by the number in its body."""

    def __init__(self, count: int) -> None:
        self.at: dict[int, float] = {}
        self._count = count
        self.all = asyncio.Event()

    async def listen(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Note the time; a message that comes again counts when it came first."""
        now = time.perf_counter()
        for message in messages:
            self.at.setdefault(int(message.body), now)
        if len(self.at) == self._count:
            self.all.set()
        return ConsumeResult.SUCCESS


async def measure(broker: str, nameserver: str, count: int, rate: float) -> Delays:
    """Send `count` messages, `rate` a second, and return how long they took."""
    arrivals = Arrivals(count)
    consumer = PushConsumer(
        nameserver,
        group="delivery",
        listener=arrivals.listen,
        consume_from_where="CONSUME_FROM_FIRST_OFFSET",
    )
    consumer.subscribe(TOPIC)
    sent: list[float] = []
    async with consumer, Producer(nameserver, group="delivery") as producer:
        await producer.publish_queues(TOPIC)
        began = time.perf_counter()
        sending = []
        for number in range(count):
            await asyncio.sleep(max(0, began + number / rate - time.perf_counter()))
            sent.append(time.perf_counter())
            message = Message(TOPIC, str(number).encode())
            sending.append(asyncio.ensure_future(producer.send(message)))
        await asyncio.gather(*sending)
        await arrivals.all.wait()
    counted = range(count // 10, count)
    return Delays(broker, tuple(sorted(arrivals.at[n] - sent[n] for n in counted)))


def main() -> None:
    """Measure on our broker and, where asked, on Apache's."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=4000)
    parser.add_argument("--rate", type=float, default=200.0, help="a second")
    parser.add_argument("--apache", action="store_true", help="and Apache's broker")
    given = parser.parse_args()
    theirs = None
    if given.apache:
        with TemporaryDirectory() as folder, apache(QUEUES, Path(folder)) as address:
            theirs = asyncio.run(measure("apache", address, given.messages, given.rate))
            print(theirs.line(), flush=True)
    with embedded(QUEUES) as address:
        ours = asyncio.run(measure("embedded", address, given.messages, given.rate))
        print(ours.line(theirs))


if __name__ == "__main__":
    main()
