from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.jobs import run_job
from analytics.lake.compaction import absorb, compact
from analytics.lake.manifest import (
    FileEntry,
    Manifest,
    load_manifest,
    update_manifest,
)
from analytics.lake.reader import read_table
from analytics.lake.steps import finest_step, read_steps
from analytics.lake.storage import Storage, open_storage
from analytics.lake.writer import LandingWriter
from analytics.presence import EpochSpan
from analytics.requests import JobRequest
from analytics.schemas import table_of
from tests.analytics import in_process
from tests.analytics.lakes import epoch_columns
from tests.analytics.memory import MemoryStorage
from tests.analytics.rolled import let_samples_go
from tests.analytics.rows import MINUTE, SECOND, START_MS, sample_columns

QUEUES = 6
MINUTES = 12
UNTIL_MS = START_MS + MINUTES * MINUTE


GROUPS = ("settlement", "billing")
CHANGE_MS = START_MS + 5 * MINUTE + 25 * SECOND
"""When the second epoch of each group begins."""


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve minutes of two groups with unknown offsets, holes, quiet queues and ages.

    In the middle the epoch of both changes, and a queue is named no more.
    """
    folder = tmp_path_factory.mktemp("landed")
    chance = random.Random(7)
    writer = LandingWriter(str(folder), run_id="run")
    last: dict[tuple[str, int], int] = {}
    for at in range(START_MS, UNTIL_MS + 90 * SECOND, 10 * SECOND):
        for group in GROUPS:
            taken = [q for q in range(QUEUES) if chance.random() < 0.6]
            if START_MS + 8 * MINUTE < at < START_MS + 10 * MINUTE or not taken:
                continue
            weight = [min(60.0, (at - last.get((group, q), at)) / 1000) for q in taken]
            last |= {(group, q): at for q in taken}
            writer.append(
                sample_columns(
                    at,
                    queue_id=taken,
                    group=group,
                    topic=["orders" if q % 2 else "refunds" for q in taken],
                    weight=weight,
                    max=[chance.randrange(1000) for _queue in taken],
                    committed=[
                        None if chance.random() < 0.2 else chance.randrange(1100)
                        for _queue in taken
                    ],
                    lag_ms=[chance.choice((None, 5, 900)) for _queue in taken],
                    epoch=1 if at <= CHANGE_MS else 2,
                )
            )
    writer.close(START_MS)
    absorb(open_storage(str(folder)), c.SAMPLES)
    return folder


@pytest.fixture
def lake(landed: Path, tmp_path: Path) -> Storage:
    """Return a lake of the test's own."""
    shutil.copytree(landed, tmp_path, dirs_exist_ok=True)
    return open_storage(str(tmp_path))


@pytest.fixture(scope="module", params=[MINUTES, 11, 3])
def rolled_lake(
    request: pytest.FixtureRequest,
    landed: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Storage, int]:
    """Return a lake for reading, and how many minutes of it are rolled up."""
    folder = tmp_path_factory.mktemp("rolled") / "lake"
    shutil.copytree(landed, folder)
    storage = open_storage(str(folder))
    rolled(storage, request.param)
    return storage, request.param


def named(*numbers: int) -> list[tuple[str, str, int]]:
    return [("orders" if q % 2 else "refunds", "broker-a", q) for q in numbers]


THERE = [
    EpochSpan(group, number, began, None, named(*range(queues)))
    for group in GROUPS
    for number, began, queues in ((1, START_MS - MINUTE, 7), (2, CHANGE_MS, 5))
]
"""A seventh queue is never sampled, the sixth is out of the second epoch."""


def rows(table: Any, *keys: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {tuple(row[key] for key in keys): row for row in table.to_pylist()}


def alike(row: dict[str, Any], other: dict[str, Any]) -> None:
    """Hold the columns of one row to another's; floats may be off by rounding."""
    for name, value in row.items():
        if isinstance(value, float) and other[name] is not None:
            assert value == pytest.approx(other[name]), name
        else:
            assert value == other[name], name


def asked(storage: Storage, step: int = 60, **changes: Any) -> Any:
    values: dict[str, Any] = {
        "cluster": "hangzhou",
        "since_ms": START_MS,
        "until_ms": UNTIL_MS,
        "step_seconds": step,
        "there": THERE,
    }
    return read_steps(storage, **(values | changes))


@pytest.mark.parametrize("step", [10, 60])
@pytest.mark.parametrize("there", [THERE, THERE[::2], []])
def test_the_numbers_are_those_of_the_job(
    lake: Storage, tmp_path: Path, step: int, there: list[EpochSpan]
) -> None:
    table = read_table(lake, c.SAMPLES)
    assert max(table[c.TIME].to_pylist()) > at(MINUTES)
    until_ms = UNTIL_MS - 25 * SECOND
    writer = LandingWriter(lake.url, c.EPOCHS, run_id="epochs")
    for span in there:
        writer.append(epoch_row(span))
    writer.close(START_MS)
    request = JobRequest(
        c.JOB_LAG,
        lake.url,
        str(tmp_path / "out"),
        since_ms=START_MS,
        until_ms=until_ms,
        step_seconds=step,
    )
    run_job(in_process.session, request, lambda *_: None)
    ours = asked(lake, step, there=there, until_ms=until_ms)
    keys = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.SINCE)
    for table, dataset, key in (
        (ours.by_queue, c.LAG_BY_QUEUE, keys),
        (ours.by_group, c.LAG_BY_GROUP, (c.GROUP, c.SINCE)),
    ):
        theirs = rows(parquet.read_table(tmp_path / "out" / dataset), *key)
        mine = rows(table, *key)
        assert mine.keys() == theirs.keys()
        for place, row in mine.items():
            alike(row, theirs[place])


def epoch_row(span: EpochSpan) -> dict[str, Any]:
    columns = epoch_columns(span.number, span.began_ms, ["a"]) | {c.GROUP: span.group}
    names = (c.TOPIC, c.BROKER, c.QUEUE_ID)
    columns[c.QUEUES] = [[dict(zip(names, q, strict=True)) for q in span.queues]]
    return columns


def test_a_step_is_worked_out_by_hand(tmp_path: Path) -> None:
    writer = LandingWriter(str(tmp_path), run_id="run")
    for at, top, done, weight in (
        (50, 100, 100, 50.0),
        (65, 160, 100, 15.0),
        (80, 10, None, 15.0),
    ):
        writer.append(
            sample_columns(
                START_MS + at * SECOND,
                queues=1,
                max=[top],
                committed=[done],
                weight=[weight],
            )
        )
    writer.close(START_MS)
    storage = open_storage(str(tmp_path))
    absorb(storage, c.SAMPLES)
    # The epoch began a while before the first sample's claim, as seen at second 90.
    orders = [("orders", "broker-a", 0)]
    there = [EpochSpan("settlement", 1, START_MS, START_MS + 90 * SECOND, orders)]
    found = asked(storage, there=there)
    first, second = found.by_queue.sort_by(c.SINCE).to_pylist()
    assert first[c.SINCE] == datetime(2026, 3, 13, tzinfo=UTC)
    assert (first[c.LAG_MEAN], first[c.LAG_PEAK], first[c.SECONDS]) == (10, 60, 60)
    assert (second[c.LAG_MEAN], second[c.LAG_PEAK]) == (60, 60)
    assert (second[c.SECONDS], second[c.UNKNOWN_SECONDS]) == (5, 25)
    group = found.by_group.sort_by(c.SINCE).to_pylist()[1]
    assert (group[c.LAG_MEAN], group[c.KNOWN_QUEUES]) == (60, 1)
    assert (group[c.SECONDS], group[c.UNKNOWN_SECONDS]) == (5, 25)


def test_what_is_not_known_is_never_0(lake: Storage) -> None:
    """The seventh queue, and the two minutes in which nobody collected."""
    table = asked(lake).by_queue
    never = [row for row in table.to_pylist() if row[c.QUEUE_ID] == QUEUES]
    assert sum(row[c.UNKNOWN_SECONDS] for row in never) == 2 * (5 * 60 + 25)
    assert {(row[c.SECONDS], row[c.LAG_MEAN]) for row in never} == {(0, None)}
    groups = rows(asked(lake).by_group, c.GROUP, c.SINCE)
    hole = groups["billing", at(8)]
    assert (hole[c.QUEUE_COUNT], hole[c.KNOWN_QUEUES], hole[c.LAG_MEAN]) == (5, 0, None)
    assert (hole[c.SECONDS], hole[c.UNKNOWN_SECONDS]) == (0, 60)


@st.composite
def looks(draw: st.DrawFn) -> tuple[list[tuple[int, int, bool, int]], list[int]]:
    """Draw samples of a queue (second, claim, known, epoch) and begins of epochs."""
    turns = sorted(draw(st.sets(st.integers(0, 300), min_size=1, max_size=4)))
    taken, at = [], 0
    for gap in draw(st.lists(st.integers(1, 100), max_size=12)):
        at += gap
        claim = draw(st.integers(0, min(gap, 60)))
        epoch = draw(st.integers(0, len(turns)))
        taken.append((at, claim, draw(st.booleans()), epoch))
    return taken, turns


@given(looks(), st.integers(1, 300), st.sampled_from([10, 60, 600]))
def test_known_and_unknown_make_up_the_time_that_a_queue_was_there(
    drawn: tuple[list[tuple[int, int, bool, int]], list[int]], until: int, step: int
) -> None:
    """Whatever was lost, late or silent; second by second."""
    taken, turns = drawn
    storage = MemoryStorage(lambda: START_MS)
    writer = LandingWriter(storage, run_id="run")
    for at, claim, is_known, epoch in taken:
        writer.append(
            sample_columns(
                START_MS + at * SECOND,
                queues=1,
                weight=[float(claim)],
                committed=[100 if is_known else None],
                epoch=epoch,
            )
        )
    writer.close(START_MS)
    absorb(storage, c.SAMPLES)
    queue = [("orders", "broker-a", 0)]
    there = [
        EpochSpan("settlement", number, START_MS + turn * SECOND, None, queue)
        for number, turn in enumerate(turns, start=1)
    ]
    found = asked(
        storage, step, there=there, until_ms=START_MS + until * SECOND
    ).by_queue.to_pylist()
    if not found:  # nothing was kept of that time
        return
    known = {
        second
        for at, claim, is_known, _epoch in taken
        for second in range(at - claim, at)
        if is_known
    }
    named = range(turns[0], until)
    for row in found:
        begin = round(row[c.SINCE].timestamp()) - START_MS // SECOND
        seconds = set(range(begin, min(begin + step, until)))
        here = seconds & set(named)
        length = row[c.SECONDS] + row[c.UNKNOWN_SECONDS]
        if any(epoch == 0 for *_rest, epoch in taken):
            # What no epoch names is there in the steps that its samples claim.
            assert len(here) <= length <= len(seconds)
        else:
            assert length == len(here)
        assert row[c.SECONDS] == pytest.approx(min(length, len(seconds & known)))
        assert (row[c.LAG_MEAN] is None) == (not seconds & known)
        assert row[c.LAG_PEAK] in ({5} if seconds & known else {5, None})
    told = {round(row[c.SINCE].timestamp()) - START_MS // SECOND for row in found}
    assert told >= {second - second % step for second in named}


def test_group_topic_and_span_narrow_it(lake: Storage) -> None:
    table = asked(
        lake,
        group="billing",
        topic="orders",
        since_ms=START_MS + MINUTE,
        until_ms=START_MS + 3 * MINUTE,
    ).by_queue
    assert set(table[c.GROUP].to_pylist()) == {"billing"}
    assert set(table[c.TOPIC].to_pylist()) == {"orders"}
    assert table.num_rows == 2 * (QUEUES // 2)
    assert asked(lake, cluster="elsewhere").by_queue.num_rows == 0
    assert asked(lake, group="nobody").by_group.num_rows == 0


def test_merged_files_give_the_same(lake: Storage) -> None:
    before = rows(asked(lake).by_group, c.GROUP, c.SINCE)
    assert compact(lake, c.SAMPLES, UNTIL_MS + 10 * MINUTE) > 0
    after = rows(asked(lake).by_group, c.GROUP, c.SINCE)
    assert before.keys() == after.keys()
    for key, row in before.items():
        alike(row, after[key])


def rolled(lake: Storage, minutes: int = MINUTES) -> None:
    """Roll up the beginning, in batches of a minute, and carry ten of them."""
    paths = [file.path for file in lake.list_files("landing/samples")]
    of_minute = [
        [path for path in paths if f"/00{minute:02d}-" in path]
        for minute in range(minutes)
    ]
    in_process.roll_up(lake, *of_minute)


def at(minute: float) -> datetime:
    return datetime.fromtimestamp(START_MS / 1000 + 60 * minute, UTC)


@pytest.mark.parametrize("step", [60, 600])
@pytest.mark.parametrize("narrow", [{}, {"group": "billing"}, {"topic": "orders"}])
def test_roll_ups_give_the_same_as_samples(
    landed: Path,
    rolled_lake: tuple[Storage, int],
    step: int,
    narrow: dict[str, str],
) -> None:
    """Also where the newest samples are not rolled up yet."""
    before = asked(open_storage(str(landed)), step, **narrow)
    assert before.source == c.SAMPLES
    lake, minutes = rolled_lake
    after = asked(lake, step, **narrow)
    keys = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID, c.SINCE)
    for mine, theirs, key in (
        (after.by_queue, before.by_queue, keys),
        (after.by_group, before.by_group, (c.GROUP, c.SINCE)),
    ):
        found, wanted = rows(mine, *key), rows(theirs, *key)
        assert found.keys() == wanted.keys()
        for place, row in found.items():
            alike(row, wanted[place])
    if minutes > 11:
        assert after.source == f"rollup_queues_{step}"


def test_what_is_rolled_up_is_not_read_from_samples(lake: Storage) -> None:
    rolled(lake)
    for file in load_manifest(lake, c.SAMPLES).files:
        lake.delete(file.path)
    table = asked(lake, 60).by_group
    # The last steps may lack what samples of later claim: they are read from those,
    # which are gone here.
    known = table.filter(pc.greater(table[c.KNOWN_QUEUES], 0))
    # Of twelve minutes, one has nothing and two are not read from the rung.
    assert known.num_rows == 2 * (MINUTES - 1 - 2)


def test_the_finest_step_that_is_kept(lake: Storage) -> None:
    def finest(at_least: int) -> int:
        return finest_step(
            lake,
            cluster="hangzhou",
            since_ms=START_MS,
            until_ms=UNTIL_MS,
            at_least=at_least,
        )

    rolled(lake)
    assert [finest(step) for step in (10, 60, 3600)] == [10, 60, 3600]
    let_samples_go(lake)
    assert [finest(step) for step in (10, 60, 600)] == [60, 60, 600]

    def let_minutes_go(manifest: Manifest) -> Manifest:
        paths = [file.path for file in manifest.files]
        return manifest.expiring(paths, UNTIL_MS, step_ms=MINUTE)

    update_manifest(lake, "rollup_queues_60", let_minutes_go)
    assert finest(10) == 600


def test_an_empty_lake_has_the_step_asked_for(tmp_path: Path) -> None:
    storage = open_storage(str(tmp_path))
    span = {"since_ms": START_MS, "until_ms": UNTIL_MS}
    assert finest_step(storage, cluster="a", **span, at_least=60) == 3600
    assert asked(storage).by_queue.num_rows == 0


def test_row_groups_of_other_groups_are_not_read(tmp_path: Path) -> None:
    """What is read of a merged file is what can hold the group, not all of it."""
    from analytics.lake.pruned import Budget, Wanted, read_wanted

    columns = {c.GROUP: [f"g{number // 100}" for number in range(1000)]}
    columns |= {c.CLUSTER: "a", c.TOPIC: "t", c.BROKER: "b", c.QUEUE_ID: 0}
    table = table_of(c.SAMPLES, columns | {c.TIME: START_MS, c.WEIGHT: 10.0})
    parquet.write_table(table, tmp_path / "all.parquet", row_group_size=100)
    entry = FileEntry("all.parquet", 1000, 1, START_MS, START_MS)
    storage = open_storage(str(tmp_path))
    names = (c.GROUP, c.TIME)
    for group, spent in (("g3", 100), ("g33", 0), ("", 1000)):
        budget = Budget(10_000)
        wanted = Wanted(START_MS, START_MS + 1, group)
        found = read_wanted(
            storage, c.SAMPLES, [entry], names, wanted=wanted, budget=budget
        )
        assert (found.num_rows, budget.spent) == (spent, spent), group
    later = Wanted(START_MS + 1, START_MS + 2)
    budget = Budget(0)
    read_wanted(storage, c.SAMPLES, [entry], names, wanted=later, budget=budget)
    assert budget.spent == 0


def test_a_span_of_too_many_samples_is_refused_with_the_limit(lake: Storage) -> None:
    with pytest.raises(LakeError, match="at most 100"):
        asked(lake, most_rows=100)


def test_a_file_that_retention_took_is_no_error(lake: Storage) -> None:
    for file in load_manifest(lake, c.SAMPLES).files:
        lake.delete(file.path)
    assert asked(lake).by_queue.num_rows == 0
