"""The back-test against the what-if page, and against a calculation by hand."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.jobs import run_job
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from dashboard.whatif.model import (
    QueueState,
    Scenario,
    Situation,
    compare,
)
from dashboard.whatif.model.rows import NOT_KNOWN
from rmqcore.allocation import NEVER
from rmqcore.model import MessageQueue
from tests.analytics.rows import SECOND, START_MS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

IDS = ("hz-c", "hz-a", "hz-b")
QUEUES = [
    MessageQueue(topic, "broker-a", number)
    for topic, count in (("bills", 3), ("orders", 7))
    for number in range(count)
]
RATES = {queue: 3 + 7 * at for at, queue in enumerate(QUEUES)}
TAKEN = {queue: rate + at % 3 for at, (queue, rate) in enumerate(RATES.items())}
BACKLOG = 500
"""Messages that wait in every queue at first, so that some of them drain."""

STEP = 10
LATER = 20
"""Seconds into the period: the moment that both look at."""

CONFIG = {
    name: [[q.topic, q.broker_name, q.queue_id] for q in QUEUES[at:-1:3]]
    for at, name in enumerate(IDS)
}
"""The last queue is on nobody's list."""


def epoch(number: int, began_s: int, ids: tuple[str, ...]) -> dict[str, Any]:
    members = [
        {c.CLIENT_ID: name, c.STRATEGY: "AVG", c.SUBSCRIPTIONS: None} for name in ids
    ]
    queues = [
        {c.TOPIC: q.topic, c.BROKER: q.broker_name, c.QUEUE_ID: q.queue_id}
        for q in QUEUES
    ]
    return {
        c.CLUSTER: "hangzhou",
        c.GROUP: "settlement",
        c.EPOCH: [number],
        c.TIME: START_MS + began_s * SECOND,
        c.BEGAN: START_MS + began_s * SECOND,
        c.STRATEGY: "AVG",
        c.STRATEGY_SOURCE: "reported",
        c.MEMBERS: [members],
        c.QUEUES: [queues],
    }


def write_lake(folder: Path) -> None:
    """Write half a minute of three members, and half a minute after one has left."""
    samples = LandingWriter(str(folder), run_id="samples")
    for second in range(0, 61, STEP):
        samples.append(
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: "settlement",
                c.TOPIC: [queue.topic for queue in QUEUES],
                c.BROKER: "broker-a",
                c.QUEUE_ID: [queue.queue_id for queue in QUEUES],
                c.TIME: START_MS + second * SECOND,
                c.WEIGHT: STEP if second else 0,
                c.MAX: [BACKLOG + RATES[queue] * second for queue in QUEUES],
                c.COMMITTED: [TAKEN[queue] * second for queue in QUEUES],
                c.EPOCH: 1 if second <= 30 else 2,
            }
        )
    samples.close(START_MS)
    epochs = LandingWriter(str(folder), c.EPOCHS, run_id="epochs")
    epochs.append(epoch(1, 0, IDS))
    epochs.append(epoch(2, 30, IDS[:2]))
    epochs.close(START_MS)


Tables = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = tmp_path_factory.mktemp("backtest")
    write_lake(folder / "lake")
    request = JobRequest(
        job=c.JOB_BACKTEST,
        lake=str(folder / "lake"),
        output=str(folder / "out"),
        step_seconds=STEP,
        options={"CONFIG": {"config": CONFIG}},
    )
    run_job(lambda: spark, request, lambda _part, _phase: None)
    return {
        name: parquet.read_table(folder / "out" / name).to_pylist()
        for name in (c.SKEW_BY_TIME, c.MEMBER_BY_TIME, c.STRATEGIES)
    }


def capacity() -> int:
    """Return the most that a member of the strategy in use was seen to take."""
    halves = (IDS, IDS[:2])
    most = 0
    for ids in halves:
        figures = compare(situation(ids), Scenario()).row("AVG").plan
        assert figures is not None
        shares = figures.by_client.values()
        most = max(most, *(sum(TAKEN[queue] for queue in share) for share in shares))
    return most


def situation(ids: tuple[str, ...]) -> Situation:
    """Return the group as the what-if page has it, at the moment looked at."""
    states = tuple(
        QueueState(
            queue,
            lag=BACKLOG + (RATES[queue] - TAKEN[queue]) * LATER,
            rate_in=RATES[queue],
            rate_out=TAKEN[queue],
        )
        for queue in QUEUES
    )
    return Situation("hangzhou", "settlement", ids, states)


@pytest.mark.parametrize(
    "strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "CONFIG"]
)
def test_the_same_instant_has_the_numbers_of_the_what_if_page(
    tables: Tables, strategy: str
) -> None:
    config = tuple(
        (name, tuple(MessageQueue(*queue) for queue in lists))
        for name, lists in sorted(CONFIG.items())
    )
    scenario = Scenario(member_rate=capacity(), config=config)
    figures = compare(situation(IDS), scenario).row(strategy).figures
    assert figures is not None
    (row,) = (
        row
        for row in tables[c.SKEW_BY_TIME]
        if row[c.STRATEGY] == strategy
        and row[c.SINCE].timestamp() * 1000 == START_MS + (LATER - STEP) * SECOND
    )
    for name, scores in (("load", figures.by_load), ("lag", figures.by_lag)):
        even = scores or NOT_KNOWN
        assert row[f"{name}_max_to_mean"] == pytest.approx(even.max_over_mean)
        assert row[f"{name}_variation"] == pytest.approx(even.variation)
        assert row[f"{name}_gini"] == pytest.approx(even.gini)
        assert (even == NOT_KNOWN) is (strategy == "CONFIG"), "it leaves one to nobody"
    assert row[c.IDLE_COUNT] == len(figures.idle)
    assert row[c.UNOWNED_COUNT] == figures.unassigned
    assert row[c.NEVER_DRAINS] is (figures.worst_drain_s == NEVER)
    if figures.worst_drain_s != NEVER:
        assert row[c.DRAIN_SECONDS] == pytest.approx(figures.worst_drain_s)
    else:
        assert row[c.DRAIN_SECONDS] is None


def test_members_by_time_add_up_to_what_the_group_has(tables: Tables) -> None:
    load: dict[tuple[Any, ...], float] = defaultdict(float)
    for row in tables[c.MEMBER_BY_TIME]:
        assert row[c.QUEUE_COUNT] == row[c.KNOWN_QUEUES]
        if row[c.STRATEGY] != "CONFIG":
            load[row[c.STRATEGY], row[c.SINCE]] += row[c.LOAD]
    assert list(load.values()) == [pytest.approx(sum(RATES.values()))] * (4 * 6)


def test_time_adds_up_to_the_period(tables: Tables) -> None:
    times: dict[Any, float] = defaultdict(float)
    for row in tables[c.SKEW_BY_TIME]:
        assert row[c.UNKNOWN_SECONDS] == 0
        times[row[c.STRATEGY]] += row[c.SECONDS]
    assert set(times.values()) == {60}
    for row in tables[c.STRATEGIES]:
        assert (row[c.SECONDS], row[c.UNKNOWN_SECONDS]) == (60, 0)
        assert row[c.OVERLOAD_SECONDS] <= row[c.SECONDS]
        assert row[c.NEVER_SECONDS] <= row[c.SECONDS]


def test_moves_are_counted_by_hand(tables: Tables) -> None:
    """AVG over 7 and 3 queues: what three had in order, two have in order."""
    before = {"hz-a": (0, 1, 2), "hz-b": (3, 4), "hz-c": (5, 6)}
    after = {"hz-a": (0, 1, 2, 3), "hz-c": (4, 5, 6)}
    orders = sum(
        queue not in after.get(name, ())
        for name, share in before.items()
        for queue in share
    )
    bills = 1  # one each before, two and one after: b's
    rows = {row[c.STRATEGY]: row for row in tables[c.STRATEGIES]}
    assert rows["AVG"][c.MOVES] == orders + bills
    assert rows["AVG"][c.MOVES_PER_CHANGE] == orders + bills
    # Whoever leaves gives up a queue; the one nobody owned has not moved.
    assert rows["CONFIG"][c.MOVES] == 0
    # What nobody owns has a backlog from the first moment on.
    assert rows["CONFIG"][c.NEVER_SECONDS] == rows["CONFIG"][c.SECONDS]
    unowned = {name: row[c.UNOWNED_COUNT] for name, row in rows.items()}
    assert {name for name, count in unowned.items() if count} == {"CONFIG"}
    assert unowned["CONFIG"] == 1 + len(CONFIG["hz-b"]), "who left has a list, too"


def test_strategies_are_ranked_by_the_evenness_of_their_loads(tables: Tables) -> None:
    ranked = [row for row in tables[c.STRATEGIES] if row[c.RANK] is not None]
    ranked.sort(key=lambda row: row[c.RANK])
    assert [row[c.RANK] for row in ranked] == [1, 2, 3]
    evenness = [row["load_max_to_mean"] for row in ranked]
    assert evenness == sorted(evenness)
    beside = {row[c.STRATEGY]: row for row in tables[c.STRATEGIES]}
    for row in ranked:
        del beside[row[c.STRATEGY]]
    plan, config = beside.pop("BALANCED"), beside.pop("CONFIG")
    assert not beside, "the best possible and what leaves queues to nobody"
    assert config["load_max_to_mean"] is None
    assert plan["load_max_to_mean"] <= evenness[0]
