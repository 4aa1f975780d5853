"""A job on a Spark cluster: a standalone master and two workers on loopback."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.jobs import run_job
from analytics.jre import java_environment, real_java
from analytics.requests import JobRequest
from tests.analytics.lakes import two_epochs
from tests.support.apache import BRIEF_SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

WORKERS = 2
MEMORY = "512m"
STARTED = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)\s")
REGISTERED = re.compile("(Successfully registered with master)")


class Daemon:
    """One Spark daemon, its output in a file."""

    def __init__(self, folder: Path, name: str, *command: str) -> None:
        settings = folder / "log4j2.properties"
        settings.write_text(
            "rootLogger.level = info\nrootLogger.appenderRef.o.ref = o\n"
            "appender.o.type = Console\nappender.o.name = o\n"
            "appender.o.layout.type = PatternLayout\n"
            "appender.o.layout.pattern = %p %m%n\n"
        )
        environ = cluster_environment(folder) | {
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile={settings}",
            "SPARK_WORKER_DIR": str(folder / "work"),
        }
        self._log = folder / f"{name}.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "analytics.standalone", *command],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environ,
            )

    def wait_for(self, pattern: re.Pattern[str]) -> str:
        """Return the first group of what the log is to hold."""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and self._process.poll() is None:
            if found := pattern.search(self._log.read_text()):
                return found[1]
            time.sleep(0.1)
        log = self._log.read_text()[-3000:]
        raise AssertionError(f"no {pattern.pattern} in:\n{log}")

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def cluster_environment(folder: Path) -> dict[str, str]:
    environ = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    environ.update(java_environment(real_java(os.environ), folder / "java-shim"))
    return environ | {"JAVA_TOOL_OPTIONS": BRIEF_SPARK}


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    host = ("--host", "127.0.0.1", "--webui-port", "0")
    daemons = [Daemon(tmp_path, "master", "master", *host, "-p", "0")]
    try:
        url = daemons[0].wait_for(STARTED)
        limits = ("--cores", "1", "--memory", MEMORY)
        for number in range(WORKERS):
            command = ("worker", *host, *limits, url)
            daemons.append(Daemon(tmp_path, f"worker-{number}", *command))
        for worker in daemons[1:]:
            worker.wait_for(REGISTERED)
        yield url
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


def test_a_job_on_two_workers_gives_what_it_gives_here(
    spark: SparkSession, master: str, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    two_epochs(lake)
    run = subprocess.run(
        [
            *(sys.executable, "-m", "analytics", c.JOB_SKEW, "--step", "60"),
            *("--lake", str(lake), "--output", str(tmp_path / "there")),
        ],
        env=cluster_environment(tmp_path)
        | {
            "ROCKETSCOPE_VAR_DIR": str(tmp_path / "var"),
            "ROCKETSCOPE_SPARK_MASTER": master,
            "ROCKETSCOPE_SPARK_MEMORY": MEMORY,
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    # Each worker started an executor; one that was slow may have been replaced.
    executors = {each.name for each in (tmp_path / "work").glob("app-*/*")}
    assert executors >= {str(number) for number in range(WORKERS)}
    here = tmp_path / "here"
    request = JobRequest(c.JOB_SKEW, str(lake), str(here), step_seconds=60)
    summary = run_job(lambda: spark, request, lambda *_: None)
    for name, count in summary["rows"].items():
        found = _rows(tmp_path / "there" / name)
        assert len(found) == count > 0
        assert found == _rows(here / name), name


def _rows(folder: Path) -> list[str]:
    def told(row: dict[str, Any]) -> str:
        """Sums in another order differ in the last digits."""
        values = row.items()
        return repr([(k, round(v, 9) if type(v) is float else v) for k, v in values])

    return sorted(map(told, parquet.read_table(folder).to_pylist()))
