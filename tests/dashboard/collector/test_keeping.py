from __future__ import annotations

import errno
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError
from pyarrow import parquet

from analytics.lake import storage
from dashboard import models
from dashboard.collector import keeping
from dashboard.collector.epochs import EpochBook, EpochMember, EpochTurn, Membership
from dashboard.collector.handovers import Handover
from dashboard.collector.keeping import Keeper
from dashboard.collector.records import GroupHandover
from dashboard.collector.samples import SampleColumns

from .sights import NOW, keys, table

pytestmark = pytest.mark.django_db(transaction=True)


def turn(*members: str) -> EpochTurn:
    state = Membership(tuple(EpochMember(name, "AVG") for name in members), keys(2))
    found = EpochBook().observe(state, (), NOW)
    assert found is not None
    return found


def samples() -> SampleColumns:
    columns = SampleColumns()
    columns.add("g", table(keys(2)), [(0, 10.0), (1, 60.0)], epoch=1, ownership=None)
    return columns


def rows_of(lake: Path, dataset: str) -> list[dict[str, Any]]:
    return [
        row
        for path in sorted(lake.rglob("*.parquet"))
        if dataset in path.parts
        for row in parquet.ParquetFile(path).read().to_pylist()
    ]


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    cluster = models.Cluster.objects.create(name="east")
    return Keeper("east", cluster.pk, str(tmp_path / "lake"), "run1")


async def test_the_lake_says_whether_a_group_divides(
    keeper: Keeper, tmp_path: Path
) -> None:
    for name, mode in (("divides", "CLUSTERING"), ("copies", "BROADCASTING")):
        state = Membership((EpochMember("c1"),), keys(2), mode=mode)
        found = EpochBook().observe(state, (), NOW)
        assert found is not None
        keeper.add_turn(name, found)
    await keeper.close(NOW)
    rows = rows_of(tmp_path / "lake", "epochs")
    modes = {row["group"]: row["mode"] for row in rows}
    assert modes == {"divides": "CLUSTERING", "copies": "BROADCASTING"}


async def test_epochs_go_to_the_database_and_samples_to_the_lake(
    keeper: Keeper, tmp_path: Path
) -> None:
    keeper.add_turn("g", turn("c1"))
    await keeper.keep(samples(), NOW)
    assert await models.Epoch.objects.acount() == 1
    await keeper.close(NOW + 1000)
    written = rows_of(tmp_path / "lake", "samples")
    assert [row["queue_id"] for row in written] == [0, 1]
    assert [row["weight"] for row in written] == [10.0, 60.0]
    assert {row["cluster"] for row in written} == {"east"}
    (epoch,) = rows_of(tmp_path / "lake", "epochs")
    assert (epoch["epoch"], epoch["strategy"], epoch["ended"]) == (1, "AVG", None)
    assert [member["client_id"] for member in epoch["members"]] == ["c1"]
    assert len(epoch["queues"]) == 2


async def test_epochs_of_one_sweep_lie_in_the_files_of_their_minutes(
    keeper: Keeper, tmp_path: Path
) -> None:
    minute_ms = 60_000
    almost_over = NOW // minute_ms * minute_ms + minute_ms - 1
    for name in ("first", "second", "third"):
        keeper.add_turn(name, turn("c1"))
    await keeper.keep(None, almost_over)
    assert keeper.pending_rows == 3
    await keeper.close(almost_over)
    files = sorted((tmp_path / "lake").rglob("*.parquet"))
    found = [parquet.read_table(path)["group"].to_pylist() for path in files]
    assert found == [["first"], ["second", "third"]]


async def test_what_the_database_refuses_comes_again(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_arguments: object) -> None:
        raise DatabaseError("database is locked")

    handover = Handover(keys(1)[0], "moved", ("c1",), ("c2",), NOW, NOW + 1000)
    with monkeypatch.context() as patched:
        patched.setattr(keeping, "save_turns", locked)
        keeper.add_turn("g", turn("c1"))
        keeper.add_handovers([GroupHandover("g", 1, handover)])
        await keeper.keep(None, NOW)
        assert keeper.pending_rows == 2
    await keeper.keep(None, NOW + 1000)
    assert await models.Epoch.objects.acount() == 1
    assert await models.OwnershipEvent.objects.acount() == 1
    await keeper.close(NOW + 2000)


async def test_a_lake_that_cannot_be_written_keeps_its_rows(
    keeper: Keeper, tmp_path: Path
) -> None:
    (tmp_path / "lake").write_text("not a folder")
    await keeper.keep(samples(), NOW)
    await keeper.keep(None, NOW + 120_000)
    assert keeper.lake_fault is not None
    assert keeper.lake_fault["pending_rows"] == keeper.pending_rows == 2
    assert "NotADirectoryError" in keeper.lake_fault["error"]
    (tmp_path / "lake").unlink()
    await keeper.keep(None, NOW + 240_000)
    assert (keeper.lake_fault, keeper.pending_rows) == (None, 0)
    await keeper.close(NOW + 240_000)


async def test_a_full_disk_is_told_once_a_minute_and_when_it_is_over(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def told(level: int) -> list[str]:
        found = [r.getMessage() for r in caplog.records if r.levelno == level]
        caplog.clear()
        return found

    caplog.set_level(logging.INFO, logger=keeping.__name__)
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_write_synced", full)
        for number in range(1, 13):
            await keeper.keep(samples(), NOW + number * 10_000)
        # After 60 s the minute is over and must be written; it ends after 120 s.
        first, _second = told(logging.WARNING)
        assert "the lake cannot be written (OSError: [Errno 28] No space left" in first
        assert "rows wait in memory, which holds 4000000" in first
        assert keeper.pending_rows == 24
        # Beyond what memory holds the oldest minute is given up, and that is said.
        patch.setattr(keeper._samples, "_max_pending_rows", 20)
        await keeper.keep(samples(), NOW + 180_000)
        (given_up,) = told(logging.ERROR)
        assert f"{keeper.dropped} rows given up" in given_up
        assert keeper.dropped > 0
        held = keeper.pending_rows
    assert keeper.lake_error is not None
    await keeper.keep(None, NOW + 240_000)
    assert (keeper.lake_error, keeper.pending_rows) == (None, 0)
    assert told(logging.INFO)[-1] == "cluster=east the lake is written again"
    assert held > 0
    await keeper.close(NOW + 240_000)
    assert told(logging.ERROR) == []


async def test_rows_that_are_lost_at_the_end_are_counted_in_the_log(
    keeper: Keeper, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "lake").write_text("not a folder")
    await keeper.keep(samples(), NOW)
    await keeper.close(NOW + 1000)
    assert "2 rows are lost: neither lake (NotADirectoryError" in caplog.text


async def test_running_epochs_are_loaded_back(keeper: Keeper) -> None:
    keeper.add_turn("g", turn("c1"))
    await keeper.keep(None, NOW)
    books = await keeper.load_books()
    assert books["g"].current is not None
    assert books["g"].current.membership.client_ids == ("c1",)
    await keeper.close(NOW)


HOSTED = "10.0.0.1@g-1.1"


def hosted(strategy: str | None) -> Membership:
    """The one member of a hosted group, before and after it was asked."""
    options = {"config": {"1": [["orders", "a", "1"]]}} if strategy else None
    text = json.dumps(options) if options else None
    return Membership((EpochMember(HOSTED, strategy),), keys(2), text)


async def test_what_is_learned_of_a_running_epoch_is_its_newest_row(
    keeper: Keeper, tmp_path: Path
) -> None:
    """Nobody waits for an epoch's end, which may be days away."""
    book = EpochBook()
    first = book.observe(hosted(None), (), NOW)
    assert first is not None
    keeper.add_turn("g", first)
    assert book.observe(hosted("CONFIG"), (), NOW) is None
    learned = book.take_learned()
    assert learned is not None
    keeper.add_learned("g", learned)
    await keeper.keep(None, NOW)
    row = await models.Epoch.objects.aget()
    assert row.members[0]["strategy"] == "CONFIG"
    assert row.options == {"config": {"1": [["orders", "a", "1"]]}}
    loaded = (await keeper.load_books())["g"].current
    assert loaded is not None
    assert loaded.membership == hosted("CONFIG")
    await keeper.close(NOW)
    begun, known = rows_of(tmp_path / "lake", "epochs")
    assert (begun["strategy"], begun["options"]) == (None, None)
    assert known["strategy"] == "CONFIG"
    assert json.loads(known["options"]) == {"config": {HOSTED: [["orders", "a", 1]]}}
    assert known["time"] > begun["time"], "taken at one moment, and not equally new"
    assert known["ended"] is None


async def test_an_end_stays_newer_than_what_was_learned_before(
    keeper: Keeper, tmp_path: Path
) -> None:
    book = EpochBook()
    for at, members in enumerate([hosted(None), hosted("CONFIG"), Membership((), ())]):
        found = book.observe(members, (), NOW + at)
        if found is not None:
            keeper.add_turn("g", found)
        learned = book.take_learned()
        if learned is not None:
            keeper.add_learned("g", learned)
    await keeper.keep(None, NOW)
    ended, running = [row async for row in models.Epoch.objects.order_by("number")]
    assert (ended.ended_by is None, running.ended_by is None) == (False, True)
    assert ended.members[0]["strategy"] == "CONFIG"
    await keeper.close(NOW)
    rows = [row for row in rows_of(tmp_path / "lake", "epochs") if row["epoch"] == 1]
    newest = max(rows, key=lambda row: row["time"])
    assert len({row["time"] for row in rows}) == len(rows) == 3
    assert newest["ended_before"] is not None
    assert newest["strategy"] == "CONFIG"
