"""What the soak takes for lost, for a hole, and for growth."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from benchmarks.soak.accounting import Account, claimed
from benchmarks.soak.figures import Tally, tally
from benchmarks.soak.memory import MB, Look, courses
from benchmarks.soak.verdict import accounts_line, goals, memory_table

QUEUE = ("g_slow", "t_g_slow", "broker-a", 0)
METRICS = """\
# TYPE rocketscope_collector_sweeps counter
rocketscope_collector_sweeps_total{worker="one",cluster="apache"} 40.0
# TYPE rocketscope_collector_failed counter
rocketscope_collector_failed_total{worker="one",cluster="apache"} 2.0
# TYPE rocketscope_collector_refused counter
rocketscope_collector_refused_total{worker="one",cluster="apache"} 1.0
# TYPE rocketscope_collector_skipped counter
rocketscope_collector_skipped_total{worker="one",cluster="apache"} 7.0
# TYPE rocketscope_collector_missed counter
rocketscope_collector_missed_total{worker="one"} 3.0
# TYPE rocketscope_collector_leads counter
rocketscope_collector_leads_total{worker="one",cluster="apache"} 3.0
# TYPE rocketscope_collector_lapses counter
rocketscope_collector_lapses_total{worker="one",cluster="apache"} 1.0
# TYPE rocketscope_collector_faults counter
rocketscope_collector_faults_total{worker="one",cluster="apache"} 0.0
# TYPE rocketscope_collector_dropped_rows counter
rocketscope_collector_dropped_rows_total{worker="one",cluster="apache"} 0.0
# TYPE rocketscope_collector_sweep_seconds gauge
rocketscope_collector_sweep_seconds{worker="one",cluster="apache"} 0.412
"""
LOGS = (
    "rocketscope: web ended (SIGKILL), starts again in 0.5 s (log: web.log)\n",
    "Traceback (most recent call last):\n  …\nKeyError: 'NOW'\n",
    'Exception in thread "main" java.lang.OutOfMemoryError\n',
)
GOOD = Tally(sweeps=40)
WHOLE = Account(QUEUE, 600.0, 580.0, 20.0)


def sample(at_s: int, weight: float, **values: Any) -> dict[str, Any]:
    group, topic, broker, queue_id = QUEUE
    return {
        "group": group,
        "topic": topic,
        "broker": broker,
        "queue_id": queue_id,
        "time": datetime.fromtimestamp(at_s, UTC),
        "weight": weight,
        "max": 9,
        "committed": 4,
        **values,
    }


def test_what_the_metrics_and_the_logs_tell() -> None:
    found = tally(METRICS, LOGS)
    assert (found.sweeps, found.failed, found.late) == (40, 3, 10)
    assert (found.leads_lost, found.lapses, found.sweep_seconds) == (2, 1, 0.412)
    assert (found.tracebacks, found.restarts) == (2, 1)


def test_metrics_without_a_collector_tell_nothing() -> None:
    with pytest.raises(ValueError, match="no collector"):
        tally("rocketscope_cache_up 1.0\n", [])


def test_claims_count_once_and_within_the_period() -> None:
    samples = [
        sample(110, 20.0),  # ten seconds of it before the begin
        sample(120, 10.0),
        sample(125, 10.0),  # five seconds of it are the last one's
        sample(150, 10.0, committed=None),
        sample(205, 10.0),  # five seconds of it after the end
    ]
    assert claimed(samples, {QUEUE: 100_000}, 200_000) == {QUEUE: 30.0}
    assert claimed(samples, {}, 200_000) == {}


def test_each_second_is_in_one_of_the_two() -> None:
    assert WHOLE.balances
    assert replace(WHOLE, unknown_s=21.0).balances
    assert not replace(WHOLE, unknown_s=5.0).balances
    assert not replace(WHOLE, unknown_s=40.0).balances


def test_memory_is_level_or_grows_or_comes_and_goes() -> None:
    looks = []
    for at in range(40):
        sizes = {
            "web": 200 * MB,
            "collector": (100 + 2 * at) * MB,
            "analytics": (150 + 300 * (at % 4)) * MB,
            # Ended and started again between two looks.
            "analytics-child": (80 if at < 25 else 300) * MB,
            **({"spark-java": 900 * MB} if at % 3 else {}),
        }
        pids = {name: frozenset({1}) for name in sizes}
        if at >= 25:
            pids["analytics-child"] = frozenset({2})
        looks.append(Look(float(at), sizes, pids))
    found = {each.name: each for each in courses(looks)}
    assert found["web"].is_level
    assert found["analytics"].is_level, "what its jobs take, they give back"
    assert not found["collector"].is_level
    assert not found["spark-java"].is_steady
    assert not found["analytics-child"].is_steady
    assert goals(GOOD, [WHOLE], list(found.values()), [])[-2].more == "collector"
    lines = memory_table(found.values())
    assert [line.split()[-1] for line in lines[1:]] == [
        "level",
        "goes",
        "GROWS",
        "goes",
        "level",
    ]


@pytest.mark.parametrize(
    ("counted", "accounts", "missed"),
    [
        (GOOD, [WHOLE], []),
        (Tally(), [WHOLE], ["sweeps lost"]),
        (replace(GOOD, failed=1), [WHOLE], ["sweeps lost"]),
        (replace(GOOD, lapses=1), [WHOLE], ["leads lost"]),
        (replace(GOOD, leads_lost=1), [WHOLE], ["leads lost"]),
        (replace(GOOD, tracebacks=2), [WHOLE], ["tracebacks"]),
        (replace(GOOD, restarts=1), [WHOLE], ["processes that ended"]),
        (GOOD, [], ["queues with a hole"]),
        (GOOD, [WHOLE, replace(WHOLE, known_s=1.0)], ["queues with a hole"]),
        (replace(GOOD, late=9), [WHOLE], []),
    ],
)
def test_what_is_missed(
    counted: Tally, accounts: list[Account], missed: list[str]
) -> None:
    judged = goals(counted, accounts, [], [])
    assert [goal.name for goal in judged if goal.found] == missed
    assert ["MISSED" in str(goal) for goal in judged].count(True) == len(missed)


def test_the_line_of_time() -> None:
    assert "no queue" in accounts_line([])
    line = accounts_line([WHOLE, replace(WHOLE, known_s=570.0)])
    assert "known 95.8%, unknown 3.3%, not accounted for 10 s in 1 queues" in line
