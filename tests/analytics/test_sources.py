"""Which source a job takes where retention has let go of parts of some."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics import contracts as c
from analytics.errors import JobError
from analytics.lake.ladder import PEAKS, QUEUES, dataset_of
from analytics.lake.manifest import FileEntry, Manifest, update_manifest
from analytics.lake.storage import Storage
from analytics.presence import Period
from analytics.requests import JobRequest
from analytics.sources import Chosen, choose_source, matching, period_of
from tests.analytics.memory import MemoryStorage
from tests.analytics.rows import HOUR, MINUTE, START_MS

DAY = 24 * HOUR
NOW = START_MS + 100 * DAY
MINUTES, TEN_MINUTES, HOURS = c.ROLLUP_LEVELS


def list_file(
    storage: Storage, dataset: str, first_ms: int, last_ms: int, *, whole_from_ms: int
) -> None:
    """Put one entry into a manifest, of a thousand rows."""
    name = "000000000-000000099" if dataset != c.SAMPLES else "0-99-abc"
    path = f"compact/{dataset}/cluster=a/day=2026-03-13/{name}.parquet"

    def change(manifest: Manifest) -> Manifest:
        entry = FileEntry(path, 1000, 10_000, first_ms, last_ms)
        listed = manifest.with_files([entry])
        return Manifest(dataset, listed.version, listed.files, (), whole_from_ms, 100)

    update_manifest(storage, dataset, change)


@pytest.fixture
def lake() -> MemoryStorage:
    """Samples of two days, minutes of 7, ten minutes of 30 and hours of 100."""
    storage = MemoryStorage(lambda: NOW)
    list_file(storage, c.SAMPLES, NOW - 2 * DAY, NOW - 1, whole_from_ms=NOW - 2 * DAY)
    for level, days in ((MINUTES, 7), (TEN_MINUTES, 30), (HOURS, 100)):
        for family in (QUEUES, PEAKS):
            first_ms = NOW - days * DAY
            whole = 0 if level == HOURS else first_ms
            dataset = dataset_of(family, level)
            list_file(storage, dataset, first_ms, NOW - HOUR, whole_from_ms=whole)
    return storage


def chosen(
    lake: MemoryStorage, since_ms: int | None, until_ms: int | None = None
) -> str:
    request = JobRequest(
        c.JOB_LAG, "memory", "memory", since_ms=since_ms, until_ms=until_ms
    )
    return choose_source(lake, request).name


@pytest.mark.parametrize(
    ("days", "name"),
    [
        (1, c.SAMPLES),
        (3, "rollup_queues_60"),
        (8, "rollup_queues_600"),
        (31, "rollup_queues_3600"),
        (None, "rollup_queues_3600"),
    ],
)
def test_the_finest_source_that_reaches_back(
    lake: MemoryStorage, days: int | None, name: str
) -> None:
    since_ms = None if days is None else NOW - days * DAY
    assert chosen(lake, since_ms) == name


def test_rows_that_are_there_by_chance_do_not_count(lake: MemoryStorage) -> None:
    """A late row of 20 days ago came with a batch of yesterday, whose file is kept."""
    dataset = dataset_of(QUEUES, MINUTES)
    late = FileEntry(
        f"compact/{dataset}/cluster=a/day=2026-03-13/000000100-000000109.parquet",
        *(1000, 10_000, NOW - 20 * DAY, NOW - DAY),
    )
    update_manifest(lake, dataset, lambda manifest: manifest.with_files([late]))
    assert chosen(lake, NOW - 15 * DAY) == "rollup_queues_600"
    assert chosen(lake, NOW - 6 * DAY) == "rollup_queues_60"
    assert chosen(lake, NOW - 20 * DAY, NOW - 10 * DAY) == "rollup_queues_600"


def test_the_first_steps_of_a_young_lake_begin_together() -> None:
    """Of 00:45, the hour's step begins at 00:00: it reaches back no further."""
    storage = MemoryStorage(lambda: NOW)
    begun = START_MS + 45 * MINUTE
    list_file(storage, c.SAMPLES, begun, begun + DAY, whole_from_ms=0)
    for level in c.ROLLUP_LEVELS:
        first_ms = begun - begun % (level * 1000)
        dataset = dataset_of(QUEUES, level)
        list_file(storage, dataset, first_ms, begun + DAY, whole_from_ms=0)
    assert chosen(storage, None) == c.SAMPLES
    assert chosen(storage, START_MS - DAY) == c.SAMPLES


def test_a_period_of_which_nothing_is_whole_is_said_to_be_empty(
    lake: MemoryStorage,
) -> None:
    for family in (QUEUES, PEAKS):
        dataset = dataset_of(family, HOURS)
        update_manifest(
            lake,
            dataset,
            lambda manifest: Manifest(
                manifest.dataset,
                manifest.version,
                manifest.files,
                whole_from_ms=NOW - 90 * DAY,
                batches=100,
            ),
        )
    with pytest.raises(JobError, match="holds no sample"):
        chosen(lake, NOW - 99 * DAY, NOW - 91 * DAY)


def test_a_period_begins_on_a_whole_step_where_its_source_is_whole() -> None:
    """Steps of which something is gone would tell less lag than there was."""
    file = FileEntry("compact/x/1", 10, 100, START_MS, START_MS + 5 * HOUR)
    whole_from_ms = START_MS + 10 * MINUTE
    source = Chosen("rollup_queues_60", 60, (file,), whole_from_ms)

    def begin(since_ms: int | None, step_seconds: int) -> int:
        request = JobRequest(
            c.JOB_LAG, "m", "m", since_ms=since_ms, step_seconds=step_seconds
        )
        return (period_of(source, request).since_ms - START_MS) // MINUTE

    assert begin(START_MS, 60) == 10
    assert begin(START_MS, 3600) == 60
    assert begin(None, 600) == 10
    assert begin(START_MS + 75 * MINUTE, 3600) == 60
    assert begin(START_MS + 75 * MINUTE, 600) == 70
    whole = Chosen("rollup_queues_60", 60, (file,))
    request = JobRequest(c.JOB_LAG, "m", "m", step_seconds=10)
    # The last step that there is begins then.
    ended_ms = START_MS + 5 * HOUR + MINUTE
    assert period_of(whole, request) == Period(START_MS, ended_ms, MINUTE)


@given(st.text("ab[.*?", max_size=8), st.text("ab[.", max_size=8))
def test_a_pattern_matches_what_a_grant_of_it_does(pattern: str, name: str) -> None:
    granted = fnmatchcase(name, pattern.replace("[", "[[]"))
    assert bool(re.search(_in_python(pattern), name)) is granted


def test_no_pattern_takes_long() -> None:
    """With what stood for a `*` tried again, this would take years."""
    assert not re.search(_in_python("*a" * 100 + "b"), "a" * 255)


def _in_python(pattern: str) -> str:
    """The end of a text is \\z in Java, and \\Z in Python."""
    return matching(pattern).removesuffix(r"\z") + r"\Z"
