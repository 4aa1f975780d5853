from __future__ import annotations

from pathlib import Path

import pytest

from analytics import contracts as c
from analytics.lake import epoch_retention
from analytics.lake.compaction import FEWEST_FILES, absorb
from analytics.lake.epoch_retention import MARGIN_MS, oldest_kept_ms, thin_epochs
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import read_table
from analytics.lake.retention import RAW_KEPT_MS
from analytics.lake.storage import LocalStorage
from analytics.lake.writer import LandingWriter
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns
from tests.analytics.rungs import put_peaks

LONG_AFTER = START_MS + 1000 * HOUR


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    """Twelve files: an epoch an hour, each with its end but the 4th and the newest."""
    storage = LocalStorage(tmp_path)
    writer = LandingWriter(storage, c.EPOCHS, run_id="run")
    for number in range(1, 13):
        began_ms = START_MS + number * HOUR
        if number > 1 and number != 5:
            ended = epoch_columns(number - 1, began_ms - HOUR, ["a"])
            ends = {c.TIME: began_ms, c.ENDED: began_ms, c.ENDED_BEFORE: began_ms}
            writer.append(ended | ends)
        writer.append(epoch_columns(number, began_ms, ["a"]))
        # Nobody knows when this group's only epoch will end.
        if number == 1:
            writer.append(epoch_columns(1, began_ms, ["b"]) | {c.GROUP: "quiet"})
        assert writer.flush(began_ms + MINUTE).error is None
    absorb(storage, c.EPOCHS)
    return storage


def kept(storage: LocalStorage) -> list[tuple[str, int]]:
    rows = read_table(storage, c.EPOCHS).to_pylist()
    return sorted({(row[c.GROUP], row[c.EPOCH]) for row in rows})


def settlement(*numbers: int) -> list[tuple[str, int]]:
    return [("quiet", 1), *(("settlement", number) for number in numbers)]


def test_epochs_that_are_over_go_and_the_others_keep_their_rows(
    storage: LocalStorage,
) -> None:
    rows = read_table(storage, c.EPOCHS).num_rows
    assert thin_epochs(storage, LONG_AFTER, LONG_AFTER) == rows - 2
    # The 4th was left open, but the 5th followed; the newest runs on.
    assert kept(storage) == settlement(12)
    assert len(load_manifest(storage, c.EPOCHS).files) == 1
    assert thin_epochs(storage, LONG_AFTER, LONG_AFTER) == 0


def test_an_epoch_of_the_oldest_step_stays(storage: LocalStorage) -> None:
    """The 10th ended at 11:00: something of that hour is kept."""
    oldest = START_MS + 11 * HOUR + MARGIN_MS
    thin_epochs(storage, oldest, LONG_AFTER)
    assert kept(storage) == settlement(10, 11, 12)
    by_number = {
        (row[c.EPOCH], row[c.ENDED] is None)
        for row in read_table(storage, c.EPOCHS).to_pylist()
        if row[c.GROUP] == "settlement"
    }
    begins_and_ends = {(10, True), (10, False), (11, True), (11, False), (12, True)}
    assert by_number == begins_and_ends


def test_few_old_files_are_left_alone(storage: LocalStorage) -> None:
    oldest = START_MS + FEWEST_FILES * HOUR + MARGIN_MS
    assert thin_epochs(storage, oldest, LONG_AFTER) == 0
    assert len(load_manifest(storage, c.EPOCHS).files) == 12


def test_files_that_somebody_else_replaced_are_left_to_them(
    storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = epoch_retention._put

    def slowly(*given: object) -> object:
        thin_epochs_there(storage, LONG_AFTER - HOUR, LONG_AFTER)
        monkeypatch.setattr(epoch_retention, "_put", put)
        return put(*given)

    def thin_epochs_there(*given: object) -> None:
        monkeypatch.setattr(epoch_retention, "_put", put)
        thin_epochs(*given)

    monkeypatch.setattr(epoch_retention, "_put", slowly)
    assert thin_epochs(storage, LONG_AFTER, LONG_AFTER) == 0
    assert kept(storage) == settlement(12)


def test_the_oldest_that_is_kept_is_that_of_any_rung(tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    now = LONG_AFTER
    assert oldest_kept_ms(storage, now) == now - RAW_KEPT_MS
    writer = LandingWriter(storage, run_id="run")
    writer.append(sample_columns(START_MS + HOUR))
    writer.close(now)
    absorb(storage, c.SAMPLES)
    assert oldest_kept_ms(storage, now) == START_MS + HOUR
    put_peaks(storage, 0, START_MS)
    assert oldest_kept_ms(storage, now) == START_MS
