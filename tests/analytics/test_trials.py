"""Rules are tried on lakes whose lag, rates and members can be worked out by hand."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analytics import contracts as c
from analytics import sources
from analytics.errors import JobError
from analytics.holding import QUIET, Threshold, step
from analytics.jobs import run_job
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from analytics.transforms.trial import (
    FIRED,
    MOST_GROUPS,
    OPEN_MS,
    OTHERS,
    SERIES,
    STILL_OPEN,
    UNKNOWN_MS,
    Tried,
)
from tests.analytics import in_process
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import MINUTE, SECOND, START_MS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SWEEP_MS = 10 * SECOND
Sweep = Sequence[tuple[int, int] | None]
"""The maximum and the committed offset of each queue; None where not known."""


def write_lake(
    folder: Path,
    sweeps: Mapping[int, Sweep],
    *,
    group: str = "settlement",
    members: Mapping[int, Sequence[str]] | None = None,
    ages: Mapping[int, Sequence[int | None]] | None = None,
) -> None:
    """Write sweeps by number, ten seconds apart, and an epoch for each of `members`."""
    queues = len(next(iter(sweeps.values())))
    begun = members or {0: ["a"]}
    samples = LandingWriter(str(folder), run_id=f"samples{group}")
    for number, sweep in sweeps.items():
        known = [each or (None, None) for each in sweep]
        columns: dict[str, Any] = {
            c.CLUSTER: "hangzhou",
            c.GROUP: group,
            c.TOPIC: "orders",
            c.BROKER: "broker-a",
            c.QUEUE_ID: list(range(queues)),
            c.TIME: START_MS + number * SWEEP_MS,
            c.WEIGHT: 10 if number else 0,
            c.MIN: 0,
            c.MAX: [each[0] for each in known],
            c.COMMITTED: [each[1] for each in known],
            c.EPOCH: 1 + sum(0 < first < number for first in begun),
        }
        if ages is not None:
            columns[c.LAG_MS] = list(ages[number])
        samples.append(columns)
    samples.close(START_MS)
    epochs = LandingWriter(str(folder), c.EPOCHS, run_id=f"epochs{group}")
    named = [
        {c.TOPIC: "orders", c.BROKER: "broker-a", c.QUEUE_ID: queue}
        for queue in range(queues)
    ]
    for number, (first, clients) in enumerate(begun.items(), start=1):
        columns = epoch_columns(number, START_MS + first * SWEEP_MS, list(clients))
        epochs.append(columns | {c.GROUP: group, c.QUEUES: [named]})
    epochs.close(START_MS)


def at(number: int) -> int:
    return START_MS + number * SWEEP_MS


class Trials:
    """Runs trials over one lake."""

    def __init__(self, start: Any, folder: Path) -> None:
        self._start = start
        self.lake = folder / "lake"
        self._folder = folder
        self._count = 0

    @property
    def output(self) -> Path:
        """The folder of the newest trial."""
        return self._folder / str(self._count)

    def run(self, rule: dict[str, Any], **more: Any) -> dict[str, Any]:
        self._count += 1
        more.setdefault("groups", () if "group_pattern" in more else ("settlement",))
        request = JobRequest(
            job=c.JOB_TRIAL,
            lake=str(self.lake),
            output=str(self.output),
            clusters=("hangzhou",),
            rule=rule,
            **more,
        )
        return run_job(self._start, request, lambda *_: None)


@pytest.fixture
def trials(tmp_path: Path) -> Trials:
    return Trials(in_process.session, tmp_path)


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_tasks_of_spark_try_the_same(
    spark: SparkSession, trials: Trials, tmp_path: Path
) -> None:
    write_lake(trials.lake, lags([0, 60, 60, 10], [0, 50, 50, 50]))
    write_lake(trials.lake, lags([0] * 9), group="refunds")
    rule = {"kind": "lag", "limit": 100}
    there = Trials(lambda: spark, tmp_path / "there")
    there.lake = trials.lake
    found = there.run(rule, group_pattern="*e*")
    assert found == trials.run(rule, group_pattern="*e*")
    assert opened(found) == [("settlement", at(1), at(3))]


def opened(summary: dict[str, Any]) -> list[tuple[str, int, int | None]]:
    return [
        (each["group"], each["opened_ms"], each["closed_ms"])
        for each in summary["openings"]
    ]


def lags(*of_queues: Sequence[int | None]) -> dict[int, Sweep]:
    """Sweeps from 0 on in which each queue has these lags, with nothing committed."""
    return {
        number: [None if lag is None else (lag, 0) for lag in sweep]
        for number, sweep in enumerate(zip(*of_queues, strict=True))
    }


def test_the_lag_of_a_group_is_the_sum_of_its_queues(trials: Trials) -> None:
    first = [0, 60, 60, 60, 60, 10, 10, 60, 60]
    second = [0, 10, 50, 50, 50, 50, 10, 50, 50]
    write_lake(trials.lake, lags(first, second))
    write_lake(trials.lake, lags([0] * 9), group="refunds")
    rule = {"kind": "lag", "limit": 100, "clear_limit": 70, "hold_ms": 20_000}
    found = trials.run(rule, group_pattern="?e*s")
    assert found["group_count"] == 1, "settlement has no s at its end"
    found = trials.run(rule, group_pattern="*e*")
    # Sums: 70, 110, 110, 110, 60, 20, 110, 110: held from sweep 2 to sweep 4.
    assert opened(found) == [("settlement", at(4), at(5))]
    assert found["openings"][0]["began_ms"] == at(2)
    assert found["openings"][0]["peak"] == 110
    totals = ("group_count", "fired", "fired_groups", "open_ms", "still_open")
    assert [found[name] for name in totals] == [2, 1, 1, 10_000, 0]
    assert found["others"] == [{"limit": 67, "fired": 1}, {"limit": 150, "fired": 0}]
    assert (found["source"], found["step_seconds"]) == (c.SAMPLES, 10)
    assert found["series"]["group"] == "settlement"
    assert found["series"]["values"] == [70, 110, 110, 110, 60, 20, 110, 110]
    assert json.loads((trials.output / c.SUMMARY).read_text()) == found


def test_a_queue_that_is_not_known_leaves_the_sum_open(trials: Trials) -> None:
    first = [0, 5, 200, 5, 5, None]
    second = [0, 5, None, None, 5, None]
    write_lake(trials.lake, lags(first, second))
    found = trials.run({"kind": "lag", "limit": 100})
    # The part that is known is enough to fire, and not enough to be over.
    assert opened(found) == [("settlement", at(2), at(4))]
    spans = [[at(2), at(3)], [at(4), at(5)]]
    assert [list(map(list, each["unknown"])) for each in found["listed"]] == [spans]
    assert found["unknown_ms"] == 20_000


def test_sweeps_that_were_lost_are_not_measured(trials: Trials) -> None:
    sweeps = lags([0, 200, 200, *[200] * 9, 200, 200])
    for lost in range(3, 12):  # the next sample claims ten seconds alone
        del sweeps[lost]
    write_lake(trials.lake, sweeps)
    found = trials.run({"kind": "lag", "limit": 100, "hold_ms": 30_000})
    assert found["fired"] == 0, "it held for 10 s and for 10 s"
    assert found["unknown_ms"] == 90_000
    found = trials.run({"kind": "lag", "limit": 100, "hold_ms": 20_000})
    assert opened(found) == [("settlement", at(13), None)]
    assert found["still_open"] == 1


def test_the_oldest_message_of_all_queues(trials: Trials) -> None:
    ages = {0: [0, 0], 1: [0, 5_000], 2: [9_000, 61_000], 3: [9_000, None], 4: [0, 0]}
    write_lake(trials.lake, lags([1] * 5, [1] * 5), ages=ages)
    found = trials.run({"kind": "oldest", "limit": 60_000})
    assert opened(found) == [("settlement", at(2), at(4))]
    assert found["openings"][0]["peak"] == 61_000
    assert found["unknown_ms"] == 10_000


def rates(*minutes: tuple[int, int]) -> dict[int, Sweep]:
    """Sweeps of minutes in each of which so many a second come in and go out."""
    top = done = 1000
    sweeps: dict[int, Sweep] = {0: [(top, done)]}
    for minute, (came, went) in enumerate(minutes):
        for sweep in range(1, 7):
            top, done = top + came * 10, min(done + went * 10, top + came * 10)
            sweeps[minute * 6 + sweep] = [(top, done)]
    return sweeps


def minute(number: int) -> int:
    return START_MS + number * MINUTE


def test_how_long_a_group_takes_to_drain(trials: Trials) -> None:
    write_lake(trials.lake, rates((10, 10), (10, 4), (0, 2), (0, 10), (0, 10)))
    found = trials.run({"kind": "drain", "limit": 60_000})
    assert found["step_seconds"] == 60
    opening = found["openings"][0]
    # In the third minute, 360 to 240 wait, 300 on the mean of 2 a second.
    assert opened(found) == [("settlement", minute(2), minute(4))]
    assert (opening["peak"], opening["endless"]) == (None, True)
    assert found["series"]["marks"] == ".^..."
    assert found["series"]["values"][2] == pytest.approx(290 / 2 * 1000, abs=10_000)


def test_nothing_comes_in_and_nothing_goes_out(trials: Trials) -> None:
    sweeps = rates((10, 10), (0, 0), (10, 0), (10, 20), (0, 0))
    write_lake(trials.lake, sweeps)
    stopped = trials.run({"kind": "in_stops"})
    assert opened(stopped) == [
        ("settlement", minute(2), minute(3)),
        ("settlement", minute(5), None),
    ]
    assert stopped["others"] == []
    # In the second minute nothing goes out, and nothing waits.
    stuck = trials.run({"kind": "out_stops"})
    assert opened(stuck) == [("settlement", minute(3), minute(4))]


def test_one_member_has_more_than_its_share(trials: Trials) -> None:
    first = [0, 5, 5, 0, 30, 20]
    write_lake(
        trials.lake,
        lags(first, [0, 5, 5, 0, 10, 20]),
        members={0: ["a", "b"], 3: ["a", "b"]},
    )
    found = trials.run({"kind": "skew", "limit": 1.4})
    assert opened(found) == [("settlement", at(4), at(5))]
    assert found["openings"][0]["peak"] == 1.5
    assert found["series"]["values"] == [1, 1, 1, 1.5, 1]


def test_a_group_has_too_few_members(trials: Trials) -> None:
    write_lake(
        trials.lake,
        lags([0] * 9),
        members={0: ["a", "b", "c"], 2: ["a"], 4: ["a", "b"], 6: ["a", "b", "c"]},
    )
    found = trials.run({"kind": "members", "limit": 3})
    assert opened(found) == [("settlement", at(3), at(7))]
    assert found["openings"][0]["peak"] == 1
    assert found["others"] == [{"limit": 2, "fired": 1}, {"limit": 4, "fired": 1}]


def test_a_group_that_the_lake_does_not_know(trials: Trials) -> None:
    write_lake(trials.lake, lags([0, 0]))
    rule = {"kind": "lag", "limit": 1}
    with pytest.raises(JobError, match=r"nothing of groups named 'pay\[1\]\*'"):
        trials.run(rule, group_pattern="pay[1]*")
    with pytest.raises(JobError, match="nothing of payments in this time"):
        trials.run(rule, groups=("payments",))


@pytest.mark.parametrize("seed", range(8, 14))
def test_any_history_has_the_openings_of_a_plain_loop(
    trials: Trials, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Several groups at random, with queues and sweeps that are not known."""
    chance = random.Random(seed)
    monkeypatch.setattr(sources, "ROWS_A_BUCKET", 300 * (seed - 7))
    expected = {}
    for group in ("alpha", "beta", "gamma", "delta"):
        sweeps: dict[int, Sweep] = {0: [(0, 0)] * 3}
        for number in range(1, 120):
            if number == 1 or chance.random() < 0.9:
                sweeps[number] = [
                    None if chance.random() < 0.1 else (chance.choice((5, 40, 90)), 0)
                    for _ in range(3)
                ]
        write_lake(trials.lake, sweeps, group=group)
        expected[group] = _looped(sweeps, Threshold(130, 100), 20_000, 10_000)
    found = trials.run(
        {
            "kind": "lag",
            "limit": 130,
            "clear_limit": 100,
            "hold_ms": 20_000,
            "clear_ms": 10_000,
        },
        group_pattern="*a",
    )
    counts = {each["group"]: each["fired"] for each in found["listed"]}
    assert counts == {group: len(times) for group, times in expected.items()}
    assert sum(counts.values()) > 4
    assert sorted(each[:2] for each in opened(found)) == sorted(
        (group, at_ms) for group, times in expected.items() for at_ms in times
    )


def _looped(
    sweeps: Mapping[int, Sweep], threshold: Threshold, hold_ms: int, clear_ms: int
) -> list[int]:
    """Return when it would have fired live, sweep by sweep."""
    standing, times = QUIET, []
    for number in range(1, max(sweeps) + 1):
        known = [each for each in sweeps.get(number, ()) if each is not None]
        value = sum(top - done for top, done in known) if known else None
        reading = threshold.read(value, partial=len(known) < 3)
        before = standing.fires
        standing = step(
            standing, reading, at(number), hold_ms=hold_ms, clear_ms=clear_ms
        )
        if standing.fires and not before:
            times.append(at(number))
    return times


def test_buckets_are_counted_together() -> None:
    """However groups are put into buckets, the same are listed, with one series."""
    chance = random.Random(3)
    rows: list[dict[str, Any]] = [
        {
            c.GROUP: f"group-{number:03}",
            FIRED: chance.randrange(4),
            OPEN_MS: chance.randrange(3),
            UNKNOWN_MS: chance.randrange(2),
            STILL_OPEN: chance.randrange(2),
            OTHERS: [chance.randrange(5), chance.randrange(5)],
            SERIES: {"values": [number]},
        }
        for number in range(3 * MOST_GROUPS)
    ]
    in_order = sorted(
        rows, key=lambda row: (row[FIRED], row[OPEN_MS], row[UNKNOWN_MS]), reverse=True
    )
    names = [row[c.GROUP] for row in in_order[:MOST_GROUPS]]
    numbers = [row[SERIES]["values"] for row in in_order[:1]]
    others = [sum(row[OTHERS][place] for row in rows) for place in range(2)]
    for size in (1, 7, MOST_GROUPS + 1, len(rows)):
        whole = Tried()
        whole.merge(Tried())
        for begin in range(0, len(rows), size):
            part = Tried()
            for row in rows[begin : begin + size]:
                part.add(dict(row))
            whole.merge(part)
        assert [row[c.GROUP] for row in whole.listed] == names
        assert [row[SERIES]["values"] for row in whole.listed if SERIES in row] == (
            numbers
        )
        assert whole.group_count == len(rows)
        assert whole.totals[FIRED] == sum(row[FIRED] for row in rows)
        assert whole.fired_groups == sum(row[FIRED] > 0 for row in rows)
        assert whole.unknown_groups == sum(row[UNKNOWN_MS] for row in rows)
        assert whole.others == others
