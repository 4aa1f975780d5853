"""A job on a Spark cluster: a standalone master and two workers on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.jre import java_environment
from tests.analytics.lakes import two_epochs

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

WORKERS = 2
MEMORY = "512m"
DEPLOY = "org.apache.spark.deploy"
STARTED = re.compile(r"spark://127\.0\.0\.1:\d+")
REGISTERED = "Successfully registered with master"


class Daemon:
    """One Spark daemon, its output in a file."""

    def __init__(self, folder: Path, name: str, *command: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        settings = folder / "log4j2.properties"
        settings.write_text(
            "rootLogger.level = info\nrootLogger.appenderRef.o.ref = o\n"
            "appender.o.type = Console\nappender.o.name = o\n"
            "appender.o.layout.type = PatternLayout\n"
            "appender.o.layout.pattern = %p %m%n\n"
        )
        environ = dict(os.environ)
        environ.update(java_environment(os.environ, folder / "java-shim"))
        environ |= {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "192m",
            "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile={settings}",
            "SPARK_WORKER_DIR": str(folder / "work"),
        }
        self._log = folder / f"{name}.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *command],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environ,
            )

    def wait_for(self, pattern: str | re.Pattern[str]) -> str:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and self._process.poll() is None:
            found = re.search(pattern, self._log.read_text())
            if found:
                return found[0]
            time.sleep(0.3)
        raise AssertionError(f"no {pattern} in:\n{self._log.read_text()[-3000:]}")

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    host = ("--host", "127.0.0.1", "--webui-port", "0")
    daemons = [Daemon(tmp_path, "master", f"{DEPLOY}.master.Master", *host, "-p", "0")]
    try:
        url = daemons[0].wait_for(STARTED)
        limits = ("--cores", "1", "--memory", MEMORY)
        for number in range(WORKERS):
            command = (f"{DEPLOY}.worker.Worker", *host, *limits, url)
            daemons.append(Daemon(tmp_path, f"worker-{number}", *command))
        for worker in daemons[1:]:
            worker.wait_for(REGISTERED)
        yield url
    finally:
        for daemon in reversed(daemons):
            daemon.stop()


def test_a_job_runs_on_two_workers(master: str, tmp_path: Path) -> None:
    two_epochs(tmp_path / "lake")
    output = tmp_path / "out"
    run = subprocess.run(
        [
            *(sys.executable, "-m", "analytics", c.JOB_REPORT, "--step", "60"),
            *("--lake", str(tmp_path / "lake"), "--output", str(output)),
        ],
        env={
            **os.environ,
            "ROCKETSCOPE_VAR_DIR": str(tmp_path / "var"),
            "ROCKETSCOPE_SPARK_MASTER": master,
            "ROCKETSCOPE_SPARK_MEMORY": MEMORY,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    assert json.loads(run.stdout)["rows"][c.LAG_BY_QUEUE] == 8
    rows = parquet.read_table(output / c.STRATEGIES).to_pylist()
    moves = {row[c.STRATEGY]: row[c.MOVES] for row in rows}
    assert moves["AVG"] == 2
    # Each worker started an executor for the application.
    assert len(list((tmp_path / "work").glob("app-*/*"))) == WORKERS
