"""Whether each second of a period is known or counted as unknown, for every queue.

What is known is worked out here from the samples' own claims, and what is unknown is
asked of the program. Their sum is to be the period. A second that is in neither is a
hole, and one that is in both was counted twice.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.lake.compaction import absorb
from analytics.lake.reader import read_table
from analytics.lake.steps import read_steps
from analytics.lake.storage import Storage, open_storage
from analytics.presence import EpochSpan
from tests.support.database import rows_of

STEP_S: Final = 10
SLACK_S: Final = 1.0
"""Claims are written down to the millisecond, and added up."""

QueueName = tuple[str, str, str, int]
"""Group, topic, broker, queue id."""

_EPOCHS: Final = (
    'select "group", number, began_by, ended_by, queues from dashboard_epoch'
)


@dataclass(frozen=True, slots=True)
class Account:
    """The seconds of a period for one queue."""

    queue: QueueName
    period_s: float
    known_s: float
    unknown_s: float

    @property
    def missing_s(self) -> float:
        """Seconds that are in neither; below 0 those that are in both."""
        return self.period_s - self.known_s - self.unknown_s

    @property
    def balances(self) -> bool:
        """Whether each second is in one of the two."""
        return abs(self.missing_s) <= SLACK_S


def accounts_of(
    lake: Path,
    epochs: Iterable[EpochSpan],
    cluster: str,
    groups: Collection[str],
    *,
    since_ms: int,
    until_ms: int,
) -> list[Account]:
    """Account for the queues of groups in [since, until); both on whole steps.

    A queue's period begins with the first of the epochs that names it.
    """
    storage = open_storage(str(lake))
    # The list of files is brought up to date a few times a day.
    absorb(storage, c.SAMPLES)
    spans = [each for each in epochs if each.group in groups]
    begins = _begins(spans, since_ms)
    samples = _samples(storage, cluster, groups, since_ms, until_ms)
    known = claimed(samples, begins, until_ms)
    unknown: dict[QueueName, float] = defaultdict(float)
    for group in sorted(groups):
        steps = read_steps(
            storage,
            cluster=cluster,
            group=group,
            since_ms=since_ms,
            until_ms=until_ms,
            step_seconds=STEP_S,
            there=[span for span in spans if span.group == group],
        )
        for row in steps.by_queue.to_pylist():
            unknown[_name(row)] += row[c.UNKNOWN_SECONDS]
    return [
        Account(
            name,
            max(0, until_ms - begin_ms) / 1000,
            known.get(name, 0.0),
            unknown.get(name, 0.0),
        )
        for name, begin_ms in sorted(begins.items())
    ]


def claimed(
    samples: Iterable[dict[str, Any]], begins: Mapping[QueueName, int], until_ms: int
) -> dict[QueueName, float]:
    """Return the seconds that samples with a known lag claim, each of them once.

    What a queue's samples claim before its begin does not count.
    """
    spans: dict[QueueName, list[tuple[int, int]]] = defaultdict(list)
    for row in samples:
        name = _name(row)
        if name in begins and None not in (row[c.MAX], row[c.COMMITTED]):
            at_ms = _ms(row[c.TIME])
            begin_ms = max(begins[name], at_ms - round(row[c.WEIGHT] * 1000))
            spans[name].append((begin_ms, min(at_ms, until_ms)))
    return {name: _union_ms(each) / 1000 for name, each in spans.items()}


def read_epochs(database: str | Path) -> list[EpochSpan]:
    """Return the epochs that a running stack has written down; see `rows_of`."""
    return [
        EpochSpan(
            group,
            number,
            _ms(_moment(began)),
            None if ended is None else _ms(_moment(ended)),
            [(topic, broker, queue) for topic, broker, queue in json.loads(queues)],
        )
        for group, number, began, ended, queues in rows_of(database, _EPOCHS)
    ]


def _begins(spans: Iterable[EpochSpan], since_ms: int) -> dict[QueueName, int]:
    """Return from when on each queue is accounted for."""
    begins: dict[QueueName, int] = {}
    for span in spans:
        for queue in span.queues:
            name = (span.group, *queue)
            begins[name] = min(span.began_ms, begins.get(name, span.began_ms))
    return {name: max(since_ms, began_ms) for name, began_ms in begins.items()}


def _samples(
    storage: Storage,
    cluster: str,
    groups: Collection[str],
    since_ms: int,
    until_ms: int,
) -> list[dict[str, Any]]:
    columns = (
        *(c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID),
        *(c.TIME, c.WEIGHT, c.MAX, c.COMMITTED),
    )
    table = read_table(
        storage,
        c.SAMPLES,
        since_ms=since_ms,
        until_ms=until_ms + round(c.MOST_WEIGHT * 1000),
        clusters={cluster},
        columns=columns,
    )
    wanted = pc.is_in(table[c.GROUP], value_set=pa.array(sorted(groups)))
    return list(table.filter(wanted).to_pylist())


def _name(row: Mapping[str, Any]) -> QueueName:
    return row[c.GROUP], row[c.TOPIC], row[c.BROKER], int(row[c.QUEUE_ID])


def _union_ms(spans: Iterable[tuple[int, int]]) -> int:
    total, reached = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
