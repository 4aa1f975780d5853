"""Orderly members killed at random: is the order per key kept, is anything lost?

    python -m benchmarks.orderly_kills [--members 4] [--kills 12] [--pace 1]

A producer sends numbered messages by key, without pause, to an embedded cluster.
Members are processes of `python -m rmqcore consume --orderly`. Again and again one that
holds queues gets SIGKILL at a random moment and another takes its place; the dead
one's locks stay with the broker until they expire, a minute later. At the end every
message that was acknowledged must have been delivered, and the first deliveries of each
key must be in the order of sending.

With `--pace 10` cluster and members live by a clock ten times as fast.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.order import Delivery, Judgement, judge
from rmqcore.broker.locks import LOCK_EXPIRY_MS
from tests.support.json_lines import JsonLines
from tests.support.waiting import wait_until

TOPIC: Final = "steps"
GROUP: Final = "walkers"
KEYS: Final = 40
LONGEST_PAUSE_S: Final = 30.0
"""Between two kills, by the hurried clock."""
DRAIN_S: Final = 60.0
"""Of the machine's clock, beside the expiry of the last locks."""
_ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Spec:
    """The size of a campaign."""

    members: int = 4
    kills: int = 12
    queues: int = 16
    rate: float = 200.0
    pace: float = 1.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a campaign showed."""

    sent: int
    failed: int
    killed_holding: list[int]
    """How many queues each victim held."""
    judgement: Judgement

    @property
    def holds(self) -> bool:
        """True when no order was broken and nothing was lost."""
        return not self.judgement.broken and not self.judgement.lost


class Command(JsonLines):
    """A command of rmqcore by the campaign's clock."""

    def __init__(self, spec: Spec, directory: Path, *arguments: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        how = (
            ("-m", "rmqcore")
            if spec.pace == 1
            else ("-m", "benchmarks.hurried", f"{spec.pace:g}")
        )
        super().__init__(
            [sys.executable, *how, *arguments],
            log=directory / "stderr",
            env={"PYTHONPATH": str(_ROOT), "HOME": str(directory)},
        )


class Member(Command):
    """An orderly member of the group."""

    def __init__(self, spec: Spec, directory: Path, nameserver: str, name: str) -> None:
        super().__init__(
            spec,
            directory / name,
            *("consume", "--nameserver", nameserver, "--group", GROUP),
            *("--topic", TOPIC, "--from", "first", "--orderly", "--work-ms", "1"),
            *("--instance-name", name),
        )
        self.name = name

    @property
    def held(self) -> int:
        """How many queues it held when that last changed."""
        told = [e for e in self.events("allocation") if e["topic"] == TOPIC]
        return len(told[-1]["queues"]) if told else 0

    def deliveries(self) -> Iterator[tuple[int, Delivery]]:
        """Return what its listener was given, by the message's number."""
        for line, event in enumerate(self.events("message")):
            yield int(event["body"]), Delivery(event["at"], self.name, line)


class Campaign:
    """Members that are killed and replaced, and what they were given."""

    def __init__(self, spec: Spec, directory: Path, nameserver: str) -> None:
        self._spec = spec
        self._directory = directory
        self._nameserver = nameserver
        self._names = (f"walker-{number}" for number in count(1))
        self._rng = random.Random(spec.seed)
        self._all: list[Member] = []
        self._living: list[Member] = []
        self.killed_holding: list[int] = []
        for _ in range(spec.members):
            self._join()

    def kill_at_random(self) -> None:
        """Kill members that hold queues, with random pauses, and replace each."""
        for _ in range(self._spec.kills):
            time.sleep(self._rng.uniform(0, LONGEST_PAUSE_S) / self._spec.pace)
            holders = [member for member in self._living if member.held]
            if not holders:
                holders = [self.wait_for_holder()]
            victim = self._rng.choice(holders)
            self.killed_holding.append(victim.held)
            victim.kill()
            self._living.remove(victim)
            self._join()

    def wait_for_holder(self) -> Member:
        """Return a living member that holds queues, once there is one."""
        deadline = time.monotonic() + DRAIN_S + LOCK_EXPIRY_MS / 1000 / self._spec.pace
        while time.monotonic() < deadline:
            for member in self._living:
                if member.held:
                    return member
            time.sleep(0.1)
        raise TimeoutError("no member came to hold a queue")

    def wait_for_delivery(self) -> None:
        """Return once a member was given a message: earlier kills show nothing."""
        wait_until(
            lambda: any(member.events("message") for member in self._living),
            "a message was delivered",
        )

    def delivered(self) -> set[int]:
        """Return the numbers of the messages that have been delivered so far."""
        return {number for number, _ in self.deliveries()}

    def deliveries(self) -> Iterator[tuple[int, Delivery]]:
        """Return every delivery of every member, dead ones included."""
        for member in self._all:
            yield from member.deliveries()

    def end(self) -> None:
        """Kill whoever still lives."""
        for member in self._living:
            member.kill()

    def _join(self) -> None:
        member = Member(
            self._spec, self._directory, self._nameserver, next(self._names)
        )
        self._all.append(member)
        self._living.append(member)


def run(spec: Spec, directory: Path) -> Outcome:
    """Carry a campaign out and judge it."""
    with ExitStack() as stack:
        cluster = stack.enter_context(
            Command(
                spec,
                directory / "cluster",
                *("cluster", "--nameserver-port", "0"),
                *("--topic", f"{TOPIC}:{spec.queues}"),
            )
        )
        nameserver = cluster.wait_for(lambda line: "nameserver" in line)["nameserver"]
        campaign = Campaign(spec, directory, nameserver)
        stack.callback(campaign.end)
        campaign.wait_for_holder()
        producer = stack.enter_context(_producer(spec, directory, nameserver))
        campaign.wait_for_delivery()
        campaign.kill_at_random()
        producer.stop()
        (report,) = producer.events("sent")
        _drain(spec, campaign, report["sent"])
        sent: dict[str, list[int]] = defaultdict(list)
        for number in range(report["sent"]):
            sent[f"k{number % KEYS}"].append(number)
        return Outcome(
            report["sent"],
            report["failed"],
            campaign.killed_holding,
            judge(campaign.deliveries(), sent),
        )


def _producer(spec: Spec, directory: Path, nameserver: str) -> Command:
    """Send numbered messages one after another, each key to one queue."""
    return Command(
        spec,
        directory / "producer",
        *("produce", "--nameserver", nameserver, "--topic", TOPIC, "--count", "0"),
        *("--rate", f"{spec.rate:g}", "--orderly", "--key-pattern", f"k{{n%{KEYS}}}"),
    )


def _drain(spec: Spec, campaign: Campaign, sent: int) -> None:
    """Wait until all has been delivered, or as long as that may take."""
    deadline = time.monotonic() + DRAIN_S + LOCK_EXPIRY_MS / 1000 / spec.pace
    while time.monotonic() < deadline and len(campaign.delivered()) < sent:
        time.sleep(0.5)


def report(outcome: Outcome) -> str:
    """Return the figures."""
    judgement = outcome.judgement
    return "\n".join(
        (
            f"members killed            {len(outcome.killed_holding):>8,}",
            f"queues they held          {sum(outcome.killed_holding):>8,}",
            f"messages acknowledged     {outcome.sent:>8,}",
            f"sends that failed         {outcome.failed:>8,}",
            f"delivered                 {judgement.delivered:>8,}",
            f"delivered again           {judgement.repeated:>8,}",
            f"lost                      {len(judgement.lost):>8,}",
            f"order per key broken      {len(judgement.broken):>8,}",
            f"longest wait of a key     {judgement.longest_wait_ms / 1000:>8,.1f} s",
        )
    )


def main() -> int:
    """Run a campaign; the exit code is 1 when order was broken or messages lost."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--queues", type=int, default=16)
    parser.add_argument("--rate", type=float, default=200, help="messages a second")
    parser.add_argument("--pace", type=float, default=1, help="of the clock, 1 to 20")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    spec = Spec(**vars(options))
    print(spec, flush=True)
    with TemporaryDirectory() as directory:
        outcome = run(spec, Path(directory))
    print(report(outcome))
    return 0 if outcome.holds and not outcome.failed else 1


if __name__ == "__main__":
    sys.exit(main())
