"""How fast the embedded broker takes and hands out messages, compared with others.

    python -m benchmarks.broker [--seconds 5] [--size 128] [--apache] [--check]
    python -m benchmarks.broker --restart 1024 [--apache]

Each broker runs as a process of its own and is driven by the same generator. Frames are
made beforehand, and answers are counted but not decoded, so that the generator costs
little. What is measured:

- sync 1 / sync 16: one message at a time on 1 or 16 connections;
- async: 512 messages in flight on 4 connections;
- batch: batches of 32, 32 of them in flight on 4 connections;
- pull: raw pulls of 32 messages, 8 in flight on 4 connections;
- restart: from start to ready over the store that the sends have filled, after a
  kill. `--restart MIB` measures that alone, over a log of so many MiB of messages of
  1 KiB: from the start of the process to the first answer that knows the last offsets,
  after a kill, and for ours again with queues, index and checkpoint lost, so that all
  is read from the log.

"rate" is messages per second by the clock, "cpu" the broker's own time per message,
"refused" the requests answered with an error (a busy Apache broker drops some). On
a busy machine, or one whose two cores the generator shares, only ratios of the same
run and the cpu column mean much. `--apache` measures Apache's broker beside it (needs
java and mvn). `--check` fails below 15,000 async, 60,000 batch, 100,000 pull a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import ge
from pathlib import Path
from typing import Final

from benchmarks.goals import Goal
from rmqcore.errors import RmqError
from rmqcore.model import Message
from rmqcore.protocol.batch import encode_batch
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.frames import encode_frame
from rmqcore.protocol.headers import CreateTopicRequestHeader, encode_header
from rmqcore.protocol.properties import encode_properties
from rmqcore.transport import connect, parse_address
from tests.support.apache import start_broker, start_cluster

TOPIC: Final = "Benchmark"
QUEUES: Final = 8
BATCH: Final = 32
FLOORS: Final = {"async": 15_000, "batch": 60_000, "pull": 100_000}
# Least part of Apache's rate in the same run.
RATIOS: Final = {"sync 1": 0.5, "sync 16": 0.5, "async": 0.5, "batch": 1.0, "pull": 1.0}
_LENGTH: Final = struct.Struct(">I")
_HEADER: Final = struct.Struct(">II")


@dataclass(frozen=True, slots=True)
class Target:
    """A broker to measure: where it is and which process it is."""

    name: str
    address: str
    pid: int

    def cpu_s(self) -> float:
        """Return the processor time the broker has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Measured:
    """One scenario on one broker."""

    scenario: str
    rate: float
    cpu_us: float
    refused: int


@dataclass(slots=True)
class Lane(asyncio.Protocol):
    """One connection that keeps a number of requests in flight until told to stop."""

    next_frame: Callable[[bytes | None], bytes | None]
    in_flight: int
    answers: int = 0
    failed: int = 0
    done: asyncio.Future[None] = field(default_factory=asyncio.Future)
    _transport: asyncio.Transport | None = None
    _buffer: bytearray = field(default_factory=bytearray)
    _open: int = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        for _ in range(self.in_flight):
            self._send(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        at = 0
        answered = 0
        while len(self._buffer) - at >= 4:
            (size,) = _LENGTH.unpack_from(self._buffer, at)
            if len(self._buffer) - at - 4 < size:
                break
            frame = bytes(self._buffer[at : at + 4 + size])
            at += 4 + size
            answered += 1
            self._open -= 1
            if b'"code":0,' not in frame[: 8 + 400]:
                self.failed += 1
            self._send(frame)
        del self._buffer[:at]
        self.answers += answered

    def _send(self, answer: bytes | None) -> None:
        frame = self.next_frame(answer)
        if frame is not None:
            assert self._transport is not None
            self._transport.write(frame)
            self._open += 1
        elif not self._open and not self.done.done():
            assert self._transport is not None
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the broker hung up"))


def send_frame(body: bytes, queue_id: int, code: int) -> bytes:
    """Return the frame of a send; every one has the same number, which is allowed."""
    properties = encode_properties(
        {
            "TAGS": "TagA",
            "KEYS": "key-1234",
            "UNIQ_KEY": "7F00000100002A9F00000000000003E8",
        }
    )
    fields = {
        "a": "benchmark",
        "b": TOPIC,
        "c": "TBW102",
        "d": "8",
        "e": str(queue_id),
        "f": "0",
        "g": str(int(time.time() * 1000)),
        "h": "0",
        "i": properties,
        "j": "0",
        "k": "false",
        "m": "true" if code == Code.SEND_BATCH_MESSAGE else "false",
    }
    return encode_frame(RemotingCommand.request(code, fields, body))


def pull_frame(queue_id: int, offset: int) -> bytes:
    """Return the frame of a pull of 32 messages."""
    fields = {
        "consumerGroup": "benchmark",
        "topic": TOPIC,
        "queueId": str(queue_id),
        "queueOffset": str(offset),
        "maxMsgNums": "32",
        "sysFlag": "4",
        "commitOffset": "0",
        "suspendTimeoutMillis": "15000",
        "subscription": "*",
        "subVersion": "0",
        "expressionType": "TAG",
    }
    return encode_frame(RemotingCommand.request(Code.PULL_MESSAGE, fields))


def sender(frames: list[bytes], until: float) -> Callable[[bytes | None], bytes | None]:
    """Return a function that gives the next frame of a round until the time is over."""
    position = 0

    def following(_: bytes | None) -> bytes | None:
        nonlocal position
        if time.monotonic() >= until:
            return None
        position = (position + 1) % len(frames)
        return frames[position]

    return following


def puller(
    ends: list[int], queue_ids: Iterator[int], until: float
) -> Callable[[bytes | None], bytes | None]:
    """Return a function that gives the next pull, cycling over all queues."""
    offsets = [0] * len(ends)

    def following(_: bytes | None) -> bytes | None:
        if time.monotonic() >= until:
            return None
        queue_id = next(queue_ids)
        frame = pull_frame(queue_id, offsets[queue_id])
        offsets[queue_id] += BATCH
        if offsets[queue_id] + BATCH > ends[queue_id]:
            offsets[queue_id] = 0
        return frame

    return following


async def drive(
    target: Target,
    scenario: str,
    makers: list[Callable[[bytes | None], bytes | None]],
    in_flight: int,
    per_answer: int,
) -> Measured:
    """Run one scenario and return what it gave."""
    host, port = parse_address(target.address)
    loop = asyncio.get_running_loop()
    cpu, began = target.cpu_s(), time.monotonic()
    lanes = [Lane(make, in_flight) for make in makers]
    for lane in lanes:
        await loop.create_connection(partial(_given, lane), host, port)
    await asyncio.gather(*(lane.done for lane in lanes))
    took, cpu = time.monotonic() - began, target.cpu_s() - cpu
    failed = sum(lane.failed for lane in lanes)
    messages = (sum(lane.answers for lane in lanes) - failed) * per_answer
    if not messages:
        raise SystemExit(f"{target.name} {scenario}: every request was refused")
    return Measured(scenario, messages / took, cpu / messages * 1e6, failed)


def _given(lane: Lane) -> Lane:
    return lane


async def queue_ends(address: str) -> list[int]:
    """Return how many messages each queue holds."""
    channel = await connect(address)
    ends = []
    for queue_id in range(QUEUES):
        fields = {"topic": TOPIC, "queueId": str(queue_id)}
        command = RemotingCommand.request(Code.GET_MAX_OFFSET, fields)
        ends.append(int((await channel.request(command)).ext_fields["offset"]))
    await channel.close()
    return ends


async def create_topic(address: str) -> None:
    """Create the topic with its queues."""
    header = CreateTopicRequestHeader(
        topic=TOPIC,
        default_topic="TBW102",
        read_queue_nums=QUEUES,
        write_queue_nums=QUEUES,
        perm=6,
        topic_filter_type="SINGLE_TAG",
        topic_sys_flag=0,
        order=False,
    )
    channel = await connect(address)
    code = Code.UPDATE_AND_CREATE_TOPIC
    await channel.request(RemotingCommand.request(code, encode_header(header)), 10)
    await channel.close()


async def measure(target: Target, seconds: float, size: int) -> list[Measured]:
    """Run every scenario on one broker."""
    await create_topic(target.address)
    body = b"x" * size
    singles = [send_frame(body, q, Code.SEND_MESSAGE_V2) for q in range(QUEUES)]
    properties = {"TAGS": "TagA", "KEYS": "key-1234", "UNIQ_KEY": "7F00000100002A9F00"}
    items = encode_batch([Message(TOPIC, body, properties)] * BATCH)
    batches = [send_frame(items, q, Code.SEND_BATCH_MESSAGE) for q in range(QUEUES)]
    results = []
    for scenario, frames, lanes, in_flight, per_answer in (
        ("sync 1", singles, 1, 1, 1),
        ("sync 16", singles, 16, 1, 1),
        ("async", singles, 4, 128, 1),
        ("batch", batches, 4, 8, BATCH),
    ):
        until = time.monotonic() + seconds
        makers = [sender(frames, until) for _ in range(lanes)]
        results.append(await drive(target, scenario, makers, in_flight, per_answer))
    ends = await queue_ends(target.address)
    until = time.monotonic() + seconds
    makers = [puller(ends, _cycle(QUEUES), until) for _ in range(4)]
    results.append(await drive(target, "pull", makers, 2, BATCH))
    return results


async def fill(target: Target, mib: int) -> list[int]:
    """Send batches until the log holds so many MiB; return the queues' ends."""
    await create_topic(target.address)
    properties = {"TAGS": "TagA", "KEYS": "key-1234", "UNIQ_KEY": "7F00000100002A9F00"}
    items = encode_batch([Message(TOPIC, b"x" * 1024, properties)] * BATCH)
    frames = [send_frame(items, q, Code.SEND_BATCH_MESSAGE) for q in range(QUEUES)]
    left = -(-(mib << 20) // len(items))

    def following(_: bytes | None) -> bytes | None:
        nonlocal left
        left -= 1
        return frames[left % QUEUES] if left >= 0 else None

    await drive(target, "fill", [following] * 4, 4, BATCH)
    return await queue_ends(target.address)


async def until_ready(address: str, ends: list[int]) -> None:
    """Return when the broker answers with the offsets it had, or later ones.

    Apache's broker enters messages into their queues a little after it has them.
    """
    while True:
        try:
            found = await queue_ends(address)
            if all(map(ge, found, ends)):
                return
        except RmqError:
            await asyncio.sleep(0.01)


def _cycle(count: int) -> Iterator[int]:
    while True:
        yield from range(count)


@contextmanager
def embedded(directory: Path) -> Iterator[tuple[Target, Callable[..., float]]]:
    """Run our broker; the second value kills it and starts it over its store.

    It takes an optional action to run between the two, and returns the time of the
    start.
    """
    address = "127.0.0.1:0"

    def start() -> tuple[subprocess.Popen[bytes], str]:
        command = [sys.executable, "-m", "rmqcore", "broker", "--listen", address]
        options = ["--nameserver", "127.0.0.1:1", "--store", str(directory)]
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["address"]

    running, address = start()  # the same address again after a restart

    def restart(between: Callable[[], None] | None = None) -> float:
        nonlocal running
        running.send_signal(signal.SIGKILL)
        running.wait()
        if between is not None:
            between()
        began = time.monotonic()
        running, _ = start()
        return time.monotonic() - began

    try:
        yield Target("embedded", address, running.pid), restart
    finally:
        running.terminate()
        running.wait()


@contextmanager
def apache(directory: Path) -> Iterator[Target]:
    """Run Apache's broker."""
    with start_cluster(directory) as cluster:
        ((name, address),) = cluster.brokers.items()
        yield Target("apache", address, cluster.processes[name].pid)


def restarts(directory: Path, mib: int, *, with_apache: bool) -> None:
    """Print how long each broker takes to be there again over a large log."""
    if with_apache:
        with start_cluster(directory / "apache") as cluster:
            ((name, address),) = cluster.brokers.items()
            target = Target("apache", address, cluster.processes[name].pid)
            ends = asyncio.run(fill(target, mib))
            cluster.processes[name].kill()
            began = time.monotonic()
            start_broker(cluster, name, parse_address(address)[1])
            asyncio.run(until_ready(address, ends))
            took = time.monotonic() - began
            print(f"apache     {mib:,} MiB, killed: {took:.2f} s")
    store = directory / "embedded"

    def forget() -> None:
        for derived in ("consumequeue", "index"):
            shutil.rmtree(store / derived, ignore_errors=True)
        for file in store.glob("checkpoint.json*"):
            file.unlink()

    with embedded(store) as (target, restart):
        ends = asyncio.run(fill(target, mib))
        for what in ("killed", "killed, queues and index lost"):
            began = time.monotonic() - restart(None if what == "killed" else forget)
            asyncio.run(until_ready(target.address, ends))
            took = time.monotonic() - began
            print(f"embedded   {mib:,} MiB, {what}: {took:.2f} s")


def report(name: str, results: list[Measured], beside: list[Measured] | None) -> None:
    """Print one broker's rows, with ratios where there is something beside."""
    print(f"{name:<10} {'rate/s':>12} {'cpu µs':>8} {'refused':>8} {'ratio':>7}")
    for index, row in enumerate(results):
        ratio = f"{row.rate / beside[index].rate:7.2f}" if beside else ""
        numbers = f"{row.rate:12,.0f} {row.cpu_us:8.1f} {row.refused:8}"
        print(f"{row.scenario:<10} {numbers} {ratio}")


def main() -> int:
    """Measure and print; return 1 when a floor was missed under `--check`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--apache", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--restart", type=int, metavar="MIB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        if options.restart:
            restarts(directory, options.restart, with_apache=options.apache)
            return 0
        beside = None
        if options.apache:
            with apache(directory / "apache") as target:
                beside = asyncio.run(measure(target, options.seconds, options.size))
            report("apache", beside, None)
        with embedded(directory / "embedded") as (target, restart):
            results = asyncio.run(measure(target, options.seconds, options.size))
            log = sum(f.stat().st_size for f in directory.glob("embedded/commitlog/*"))
            restarted = restart()
        report("embedded", results, beside)
        print(f"restart over {log / 2**20:,.0f} MiB of log: {restarted:.2f} s")
    if beside:
        for row, peer in zip(results, beside, strict=True):
            what = f"rate of the embedded broker by Apache's, {row.scenario}"
            goal = Goal(what, RATIOS[row.scenario], "times", at_least=True)
            print(goal.line(row.rate / peer.rate))
    missed = [r for r in results if r.rate < FLOORS.get(r.scenario, 0)]
    for row in missed:
        print(f"below the floor: {row.scenario}, {FLOORS[row.scenario]:,} wanted")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
