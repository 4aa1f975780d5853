"""While tasks run, a job tells how many are done, and can be stopped."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analytics.errors import JobCancelledError
from analytics.lake.storage import LocalStorage, Storage
from analytics.transforms import tasks
from analytics.transforms.tasks import made_tables
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def _wait_for_file(storage: Storage, name: str, _work: Any) -> dict[str, Any]:
    """Make nothing, once a file of that name is there."""
    if name:
        wait_until(lambda: storage.list_files(name), name, seconds=300)
    return {}


@pytest.fixture(autouse=True)
def is_told_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_TOLD_SECONDS", 0.05)


def test_the_share_of_tasks_that_are_done_is_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Each task that waits is let go when those before it were told to be done."""
    storage = LocalStorage(tmp_path)
    shares: list[float] = []

    def told(share: float) -> None:
        shares.append(share)
        for done, name in ((1, "one"), (2, "two")):
            if share >= done / 3:
                storage.write_new(f"{name}/go", b"")

    items = ["", "one", "two"]
    assert made_tables(spark, storage, items, None, _wait_for_file, told=told) == [
        {},
        {},
        {},
    ]
    assert shares == sorted(shares)
    assert {1 / 3, 2 / 3} <= set(shares)
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_a_stop_is_taken_while_tasks_run(spark: SparkSession, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)

    def stop(_share: float) -> None:
        raise JobCancelledError("enough")

    with pytest.raises(JobCancelledError, match="enough"):
        made_tables(spark, storage, ["never"], None, _wait_for_file, told=stop)
    # The session is as good as before.
    never = lambda _share: None  # noqa: E731
    assert made_tables(spark, storage, [""], None, _wait_for_file, told=never) == [{}]


def test_what_a_task_raises_is_raised_here(spark: SparkSession, tmp_path: Path) -> None:
    storage = LocalStorage(tmp_path)
    with pytest.raises(Exception, match="not a make"):
        made_tables(spark, storage, ["x"], None, _fail, told=lambda _share: None)


def _fail(_storage: Storage, _name: str, _work: Any) -> dict[str, Any]:
    raise ValueError("not a make")
