"""What judging the rules of alerts costs a collector, at each sweep of all groups.

    python -m benchmarks.alerts --groups 10000 --queues 16 --rules 20

prints the processor time of one round over all groups: while nothing fires, while a
tenth of the groups changes its state, and for the state that is left to the next
leader.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from typing import Any

import django

django.setup()

import orjson  # noqa: E402

from dashboard.alerting.engine import Engine  # noqa: E402
from dashboard.alerting.kinds import ABOUT, Kind  # noqa: E402
from dashboard.alerting.looks import GroupLook  # noqa: E402
from dashboard.alerting.rules import Rule  # noqa: E402
from rmqcore.model.columns import Column, Reason  # noqa: E402
from rmqcore.model.snapshot import QueueTable  # noqa: E402

START_MS = 1_790_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--queues", type=int, default=16)
    parser.add_argument("--rules", type=int, default=20)
    args = parser.parse_args()
    engine = Engine("east")
    kinds = cycle(kind.value for kind in Kind if kind is not Kind.BROKER)
    engine.set_rules(
        [
            Rule(pk, kind, kind, limit=ABOUT[kind].usual, finding="crit")
            for pk, kind in enumerate(islice(kinds, args.rules), start=1)
        ],
        START_MS,
    )
    tables = [table(args.queues, 0), table(args.queues, 1_000_000)]
    for title, bad in (
        ("first", 0),
        ("quiet", 0),
        ("a tenth fires", 10),
        ("again", 10),
    ):
        at_ms = round(time.time() * 1000)
        looks = [
            look(f"group-{n}", at_ms, tables[bool(bad and n % bad == 0)], n, bad)
            for n in range(args.groups)
        ]
        report(title, partial(judge, engine, looks))
        print(f"{'':24}{len(engine.take_news()):,} began or ended")
    report("document", lambda: engine.document(START_MS))
    report("memory", lambda: zlib.compress(orjson.dumps(engine.dump()), 1))
    report("urgent", engine.urgent)


def judge(engine: Engine, looks: list[GroupLook]) -> None:
    for each in looks:
        engine.look(each)


def table(queues: int, lag: int) -> QueueTable:
    nothing = Column.unknown(queues, Reason.NOT_ASKED)
    return QueueTable(
        tuple(("orders", "a", number) for number in range(queues)),
        Column.of([0] * queues),
        Column.of([2_000_000] * queues),
        Column.of([2_000_000 - lag] * queues),
        Column.of([lag] * queues),
        nothing,
        nothing,
    )


def look(name: str, at_ms: int, queues: QueueTable, number: int, bad: int) -> GroupLook:
    fires = bool(bad and number % bad == 0)
    row: Any = {
        "group": name,
        "lag": queues.lag.total(),
        "lag_partial": False,
        "oldest_ms": 600_000 if fires else 0,
        "rate_in": 10.0,
        "rate_out": 10.0,
        "members": 2,
        "skew": 2.0,
        "complete": True,
    }
    owners = [("c1",)] * len(queues)
    rules: Any = {"checked": 25, "unchecked": [], "failed": []}
    return GroupLook(at_ms, row, queues, owners, (), (), rules, 0)


def report(title: str, work: Callable[[], object]) -> None:
    began = time.process_time()
    work()
    print(f"{title:24}{(time.process_time() - began) * 1000:8,.0f} ms of processor")


if __name__ == "__main__":
    main()
