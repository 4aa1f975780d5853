"""What an orderly group in the fleet goes through when its processes die or freeze.

    python -m benchmarks.fleet_faults [--rate 200] [--members 6] [--faults kill,…]

Starts the dashboard's processes around an embedded cluster: collector, three fleet
workers, beat, Valkey. A hosted group consumes a topic of 16 queues in order while a
producer sends messages by key. Then, one after another, each time waiting until the
group is whole again:

- kill: a worker that hosts members ends by SIGKILL, and comes back later;
- freeze: a worker is stopped past the lease of its members, and wakes;
- beat: beat ends by SIGKILL, and comes back later;
- state: Valkey ends by SIGKILL with all it holds, and comes back.

For each fault it prints after how long every queue was owned again, the longest time
for which a queue was given no message (by the workers' logs), and the longest gap that
the dashboard's own timeline shows, from its earliest beginning to its latest end. At
the end it judges the logs: first deliveries of each queue must be in the order of its
offsets, and every message that was acknowledged must have been delivered. The exit code
is 1 if not.

Lock expiry is 60 s and a rebalance comes every 20 s, so that queues of a dead lock
holder are owned again within 80 s.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks import order
from benchmarks.fleet_log import Delivery, FleetLog, QueueName
from tests.support.process import Process
from tests.support.stack import Stack

TOPIC: Final = "ordered"
GROUP: Final = "in-order"
QUEUES: Final = 16
WORKERS: Final = 3
KEYS: Final = 200
SETTLE_SECONDS: Final = 6.0
FROZEN_SECONDS: Final = 10.0
PATIENCE_SECONDS: Final = 150.0
OWNED_AGAIN_SECONDS: Final = 80.0

_SAVE: Final = """
from dashboard.hosting.writes import GroupWish, save_group
save_group(None, GroupWish(
    cluster="embedded", name="{group}", topics=(("{topic}", "*"),), orderly=True,
    start_position="CONSUME_FROM_FIRST_OFFSET", listener="log",
), members={members})
"""
_EVENTS: Final = f"""
    select topic || '/' || broker || '/' || queue_id, kind, at_after, at_by
    from dashboard_ownershipevent where "group" = '{GROUP}' order by at_by
"""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """One fault: when it was, and until when the group was whole again."""

    fault: str
    worker: str
    began_s: float
    owned_again_s: float

    @property
    def seconds(self) -> float:
        """From the fault until every queue was owned again."""
        return self.owned_again_s - self.began_s


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the logs say of the whole run."""

    sent: int
    delivered: int
    repeated: int
    lost: int
    out_of_order: int

    @property
    def holds(self) -> bool:
        """Nothing acknowledged was lost, and first deliveries kept their order."""
        return self.lost == 0 and self.out_of_order == 0


class Campaign:
    """A running stack with its orderly group and the producer that feeds it."""

    def __init__(self, folder: Path, *, members: int, rate: int) -> None:
        self.stack = Stack(folder, fleet=WORKERS, topics=[f"{TOPIC}:{QUEUES}"])
        self._folder = folder
        self._members = members
        self._rate = rate
        self._producer: Process | None = None

    def start(self) -> None:
        """Start everything, and wait until all queues are owned and fed."""
        self.stack.start()
        self.stack.script(_SAVE.format(group=GROUP, topic=TOPIC, members=self._members))
        self._until(self._is_whole, "every queue is owned")
        self._producer = Process(
            [
                *(sys.executable, "-m", "rmqcore", "produce"),
                *("--nameserver", self.stack.name_server, "--topic", TOPIC),
                *("--count", "0", "--rate", str(self._rate), "--orderly"),
                *("--key-pattern", f"key-{{n%{KEYS}}}"),
            ],
            log=self._folder / "logs" / "producer.log",
        )
        time.sleep(SETTLE_SECONDS)

    def stop(self) -> None:
        """End what still runs."""
        if self._producer is not None:
            self._producer.kill()
        self.stack.stop()

    def run(self, fault: str) -> FaultResult:
        """Let one fault happen and wait until the group is whole again."""
        began = time.time()
        worker = FAULTS[fault](self)
        self._until(self._is_whole, f"whole again after {fault}")
        owned_again = time.time()
        self.stack.ensure("collector", *self.stack.fleet, "beat")
        time.sleep(SETTLE_SECONDS)
        self._until(self._is_whole, f"whole after all are back from {fault}")
        return FaultResult(fault, worker, began, owned_again)

    def end(self) -> tuple[int, list[Delivery]]:
        """Stop sending, wait for the rest; return messages sent and deliveries."""
        assert self._producer is not None
        self._producer.signal(signal.SIGTERM)
        self._producer.wait(120)
        sent = int(json.loads(self._producer.tail().splitlines()[-1])["sent"])
        self._until(lambda: distinct(self.deliveries()) >= sent, "all is delivered")
        return sent, self.deliveries()

    def deliveries(self) -> list[Delivery]:
        """Read all workers' logs; in order of time."""
        found = [
            delivery
            for name in self.stack.fleet
            for delivery in FleetLog(self.stack.processes[name].log, TOPIC).read()
        ]
        return sorted(found, key=lambda each: (each.at_s, each.offset))

    def told_gaps(self) -> list[tuple[str, float, float]]:
        """Return (queue, began, seconds) of the timeline's gaps: at most so long."""
        lost: dict[str, datetime] = {}
        gaps: list[tuple[str, float, float]] = []
        for queue, kind, after, by in self.stack.rows(_EVENTS):
            began = lost.pop(queue, None)
            if kind == "lost":
                lost[queue] = _utc(after or by)
            elif began is not None:
                gaps.append(
                    (queue, began.timestamp(), (_utc(by) - began).total_seconds())
                )
        return gaps

    # Faults: each returns the worker that it struck

    def kill_worker(self) -> str:
        """End the worker that hosts most members."""
        worker = self._busiest()
        self.stack.processes[worker].kill()
        self._until(lambda: not self._hosted_by(worker), "hosted elsewhere")
        return worker

    def freeze_worker(self) -> str:
        """Stop a worker until others host its members, then let it go on."""
        worker = self._busiest()
        self.stack.signal(worker, signal.SIGSTOP)
        try:
            self._until(lambda: not self._hosted_by(worker), "hosted elsewhere")
            time.sleep(FROZEN_SECONDS)
        finally:
            self.stack.signal(worker, signal.SIGCONT)
        return worker

    def kill_beat(self) -> str:
        """End beat for longer than a rebalance takes to come due."""
        self.stack.processes["beat"].kill()
        time.sleep(25)
        return "beat"

    def lose_state(self) -> str:
        """End Valkey and start an empty one."""
        self.stack.valkey.kill()
        time.sleep(2)
        self.stack.valkey.start()
        return "valkey"

    # Private

    def _busiest(self) -> str:
        return max(self.stack.fleet, key=self._hosted_by)

    def _hosted_by(self, worker: str) -> int:
        rows = self.stack.rows(
            "select count(*) from dashboard_managedmember m "
            "join dashboard_managedgroup g on g.id = m.group_id "
            f"where g.name = '{GROUP}' and m.worker like '{worker}@%'"
        )
        return int(rows[0][0])

    def _is_whole(self) -> bool:
        """True when each queue has one owner that reports it, and no more members."""
        document = self.stack.group(GROUP)
        if document is None or len(document["members"]) != self._members:
            return False
        return sum(self.stack.owned(GROUP).values()) == QUEUES

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        self.stack.until(holds, what, PATIENCE_SECONDS)


FAULTS: Final[dict[str, Callable[[Campaign], str]]] = {
    "kill": Campaign.kill_worker,
    "freeze": Campaign.freeze_worker,
    "beat": Campaign.kill_beat,
    "state": Campaign.lose_state,
}


def distinct(deliveries: list[Delivery]) -> int:
    """Return how many messages were delivered, repetitions not counted."""
    return len({(each.queue, each.offset) for each in deliveries})


def judge(sent: int, deliveries: list[Delivery]) -> Verdict:
    """Hold the deliveries, in order of time, to what was acknowledged."""
    places = sorted({(each.queue, each.offset) for each in deliveries})
    numbers = {place: number for number, place in enumerate(places)}
    by_queue: dict[str, list[int]] = defaultdict(list)
    for place, number in numbers.items():
        by_queue[str(place[0])].append(number)
    # One line a delivery, as if one member had had them all: they are in order of time.
    judged = order.judge(
        (
            (
                numbers[each.queue, each.offset],
                order.Delivery(round(each.at_s * 1000), "", line),
            )
            for line, each in enumerate(deliveries)
        ),
        by_queue,
    )
    return Verdict(
        sent,
        judged.delivered,
        judged.repeated,
        sent - judged.delivered,
        len(judged.broken),
    )


def longest_silence(deliveries: list[Delivery], begin: float, end: float) -> float:
    """Return the longest time in which one queue was given nothing, in seconds."""
    by_queue: dict[QueueName, list[float]] = defaultdict(list)
    for each in deliveries:
        by_queue[each.queue].append(each.at_s)
    return max(
        (
            later - earlier
            for times in by_queue.values()
            for earlier, later in pairwise(times)
            if later > begin and earlier < end
        ),
        default=0.0,
    )


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text if "+" in text else f"{text}+00:00")


def main() -> int:
    """Run the campaign and print its table; the exit code is 1 when a rule broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rate", type=int, default=200, help="messages a second")
    parser.add_argument("--members", type=int, default=6)
    parser.add_argument("--faults", default=",".join(FAULTS), help="which, in order")
    args = parser.parse_args()
    faults = args.faults.split(",")
    unknown = sorted(set(faults) - FAULTS.keys())
    if unknown:
        parser.error(f"unknown faults {unknown}; known are {', '.join(FAULTS)}")
    with tempfile.TemporaryDirectory(prefix="fleet-faults-") as folder:
        campaign = Campaign(Path(folder), members=args.members, rate=args.rate)
        try:
            campaign.start()
            results = [campaign.run(fault) for fault in faults]
            sent, deliveries = campaign.end()
            gaps = campaign.told_gaps()
        finally:
            campaign.stop()
    return report(results, judge(sent, deliveries), deliveries, gaps)


def report(
    results: list[FaultResult],
    verdict: Verdict,
    deliveries: list[Delivery],
    gaps: list[tuple[str, float, float]],
) -> int:
    """Print what was seen; return the exit code."""
    print(f"{'fault':8} {'struck':10} {'owned again':>12} {'silence':>9} {'told':>9}")
    for each in results:
        end = each.owned_again_s
        told = max(
            (s for _, at, s in gaps if each.began_s - SETTLE_SECONDS < at < end),
            default=0.0,
        )
        silence = longest_silence(deliveries, each.began_s, end)
        print(
            f"{each.fault:8} {each.worker:10} {each.seconds:10.1f} s "
            f"{silence:7.1f} s {told:7.1f} s"
        )
    print(
        f"{verdict.sent} acknowledged, {verdict.delivered} delivered, "
        f"{verdict.repeated} repeated, {verdict.lost} lost, "
        f"{verdict.out_of_order} first deliveries out of order"
    )
    late = [r for r in results if r.fault == "kill" and r.seconds > OWNED_AGAIN_SECONDS]
    return 0 if verdict.holds and not late else 1


if __name__ == "__main__":
    sys.exit(main())
