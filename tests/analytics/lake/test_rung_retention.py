"""Whatever happens in whatever order, a rung has each batch once within its time."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics import contracts as c
from analytics.lake import ladder
from analytics.lake.ladder import (
    CARRY,
    PEAKS,
    carried_until,
    dataset_of,
    view_from,
)
from analytics.lake.manifest import Manifest, load_manifest
from analytics.lake.retention import GRACE_MS
from analytics.lake.rung_retention import expire_rungs, sweep_rungs
from analytics.lake.storage import Storage
from tests.analytics.memory import CutError, MemoryStorage
from tests.analytics.rows import HOUR, MINUTE, START_MS
from tests.analytics.rungs import batches_seen, carry_peaks, put_peaks

MINUTES, TEN_MINUTES, HOURS = c.ROLLUP_LEVELS
KEPT_MS = {MINUTES: 4 * HOUR, TEN_MINUTES: 12 * HOUR, HOURS: 72 * HOUR}


class Lake:
    """The ladder, its clock, and what every rung should hold."""

    def __init__(self) -> None:
        self.now = START_MS
        self.storage = MemoryStorage(lambda: self.now)
        self.batches: list[tuple[tuple[int, ...], tuple[str, ...]]] = []
        self.is_open = False
        """The newest batch was cut short, and is to be put again."""
        self.carried = dict.fromkeys(c.ROLLUP_LEVELS, 0)

    def add(self, lateness: tuple[int, ...], clusters: tuple[str, ...]) -> None:
        if not self.is_open:
            times = tuple(self.now - late * MINUTE for late in lateness)
            self.batches.append((times, clusters))
        self.is_open = True
        times, clusters = self.batches[-1]
        number = len(self.batches) - 1
        put_peaks(self.storage, number, *times, clusters=clusters)
        self.is_open = False

    def carried_on(self, level: int) -> int:
        return carried_until(load_manifest(self.storage, dataset_of(PEAKS, level)))

    def check(self) -> None:
        for level in c.ROLLUP_LEVELS:
            view = view_from(self.storage, PEAKS, level)
            assert view.whole_from_ms <= self.now - KEPT_MS[level], level
            before, self.carried[level] = self.carried[level], self.carried_on(level)
            assert before <= self.carried[level], "else batches are carried again"
            counts = Counter(batches_seen(self.storage, level))
            done = self.batches[:-1] if self.is_open else self.batches
            for number, (times, clusters) in enumerate(done):
                for cluster in clusters:
                    found = counts[number, cluster]
                    assert found <= len(times), (level, number)
                    step = level * 1000
                    whole = [t for t in times if t - t % step >= view.whole_from_ms]
                    assert found >= len(whole), (level, number, view.whole_from_ms)


STEPS = st.one_of(
    st.tuples(
        st.just("batches"),
        st.integers(1, 25),
        # Minutes of lateness of each row; a batch may bring nothing at all.
        st.lists(st.integers(0, 48 * 60), max_size=2),
        st.sampled_from([("a",), ("b",), ("a", "b")]),
    ),
    st.tuples(st.just("carry")),
    st.tuples(st.just("expire")),
    st.tuples(st.just("sweep")),
    st.tuples(
        st.just("wait"), st.sampled_from([10 * MINUTE, HOUR, 30 * HOUR, 90 * HOUR])
    ),
    st.tuples(st.just("cut"), st.integers(0, 6), st.booleans()),
)


def run(lake: Lake, step: tuple[object, ...]) -> None:
    match step:
        case ("batches", int(number), list(lateness), tuple(clusters)):
            for _ in range(number):
                lake.now += MINUTE
                lake.add(tuple(lateness), clusters)
        case ("carry",):
            # As in a roll-up: the batch that was cut short comes first.
            if lake.is_open:
                lake.add((), ())
            carry_peaks(lake.storage, lake.now)
        case ("expire",):
            expire_rungs(lake.storage, lake.now, KEPT_MS)
        case ("sweep",):
            sweep_rungs(lake.storage, lake.now)
        case ("wait", int(length)):
            lake.now += length
        case ("cut", int(writes), bool(is_made)):
            lake.storage.cut_after, lake.storage.is_made = writes, is_made


@settings(max_examples=40)
@given(st.lists(STEPS, max_size=20))
def test_each_batch_is_on_every_rung_once_within_its_time(
    steps: list[tuple[object, ...]],
) -> None:
    lake = Lake()
    for step in steps:
        with suppress(CutError):
            run(lake, step)
        if step[0] != "cut":
            # Whoever was killed starts again, on a disk that has room.
            lake.storage.cut_after = None
        lake.check()


def full_lake(batches: int) -> Lake:
    lake = Lake()
    for _ in range(batches):
        run(lake, ("batches", 1, [0], ("a",)))
    run(lake, ("carry",))
    return lake


def files_of(lake: Lake, level: int) -> int:
    return len(load_manifest(lake.storage, dataset_of(PEAKS, level)).files)


def test_a_rung_that_lost_all_its_files_still_knows_how_far_it_came() -> None:
    """Else the next carry would take batches up again, or never."""
    lake = full_lake(CARRY**2)
    lake.now += 80 * HOUR
    expire_rungs(lake.storage, lake.now, KEPT_MS)
    assert [files_of(lake, level) for level in c.ROLLUP_LEVELS] == [0, 0, 0]
    lake.now += GRACE_MS
    sweep_rungs(lake.storage, lake.now)
    assert not lake.storage.list_files("compact"), "forgotten and deleted"
    for level in c.ROLLUP_LEVELS:
        manifest = load_manifest(lake.storage, dataset_of(PEAKS, level))
        assert (manifest.retired, carried_until(manifest)) == ((), CARRY**2)
    for _ in range(CARRY**2):
        run(lake, ("batches", 1, [0], ("a",)))
    run(lake, ("carry",))
    assert [files_of(lake, level) for level in c.ROLLUP_LEVELS] == [10, 1, 1]
    lake.check()
    # A batch that was put already, and is long gone, does not come back.
    put_peaks(lake.storage, 5, START_MS)
    assert (5, "a") not in batches_seen(lake.storage, MINUTES)


def test_what_waits_to_be_carried_stays_however_old() -> None:
    lake = full_lake(2 * CARRY + 3)
    lake.now += 1000 * HOUR
    expire_rungs(lake.storage, lake.now, KEPT_MS)
    # Two files of ten wait for an hour's, three batches for a file of ten.
    assert [files_of(lake, level) for level in c.ROLLUP_LEVELS] == [3, 2, 0]
    assert [number for number, _ in batches_seen(lake.storage, HOURS)] == list(
        range(23)
    )
    minutes = view_from(lake.storage, PEAKS, MINUTES)
    assert minutes.whole_from_ms == START_MS + 21 * MINUTE
    assert view_from(lake.storage, PEAKS, HOURS).whole_from_ms == 0


def test_a_file_of_a_run_that_was_killed_waits_for_the_next_one() -> None:
    lake = full_lake(CARRY - 1)
    lake.storage.cut_after, lake.storage.is_made = 0, True
    with suppress(CutError):
        run(lake, ("batches", 1, [0], ("a",)))
    lake.storage.cut_after = None
    written = len(lake.storage.list_files("compact"))
    lake.now += 10 * GRACE_MS
    assert sweep_rungs(lake.storage, lake.now) == 0
    assert len(lake.storage.list_files("compact")) == written == CARRY
    run(lake, ("carry",))
    lake.check()
    lake.now += GRACE_MS
    assert sweep_rungs(lake.storage, lake.now) == CARRY, "in the merged one now"
    lake.check()


def test_a_file_that_nobody_will_list_is_deleted_and_a_foreign_one_is_not() -> None:
    lake = full_lake(CARRY)
    folder = f"compact/{dataset_of(PEAKS, MINUTES)}/cluster=a/day=2026-03-13"
    for name in ("000000000-000000004.parquet", "notes.txt"):
        lake.storage.write_new(f"{folder}/{name}", b"left behind")
    lake.now += GRACE_MS + 1
    assert sweep_rungs(lake.storage, lake.now) == CARRY + 1
    names = [file.path.rsplit("/", 1)[1] for file in lake.storage.list_files(folder)]
    assert names == ["000000000-000000009.parquet", "notes.txt"]


def test_a_reader_between_a_carry_and_an_expiry_looks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lake = full_lake(CARRY - 1)
    run(lake, ("batches", 1, [0], ("a",)))
    lake.now += 10 * HOUR
    looked = []

    def load(storage: Storage, dataset: str) -> Manifest:
        manifest = load_manifest(storage, dataset)
        if not looked:
            looked.append(dataset)
            carry_peaks(lake.storage, lake.now)
            expire_rungs(lake.storage, lake.now, KEPT_MS)
        return manifest

    monkeypatch.setattr(ladder, "load_manifest", load)
    files = view_from(lake.storage, PEAKS, TEN_MINUTES).files
    assert sum(file.rows for file in files) == CARRY


def test_manifests_from_before_retention_are_read() -> None:
    """They note neither how far they came nor from when on they are whole."""
    lake = full_lake(CARRY)
    name = dataset_of(PEAKS, MINUTES)
    path = lake.storage.list_files(f"manifest/{name}")[-1].path
    text = lake.storage.read(path).decode()
    old = text.replace(f', "whole_from_ms": 0, "batches": {CARRY}', "")
    assert old != text
    lake.storage.files[path] = (old.encode(), lake.now)
    assert load_manifest(lake.storage, name).batches == 0
    lake.now += 100 * HOUR
    expire_rungs(lake.storage, lake.now, KEPT_MS)
    assert carried_until(load_manifest(lake.storage, name)) == CARRY
    assert load_manifest(lake.storage, name).batches == CARRY
