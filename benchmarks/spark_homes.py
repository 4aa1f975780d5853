"""Where jobs could run, side by side: in the worker, in a child, on Spark Connect.

python -m benchmarks.spark_homes [--lakes DIR] [--only worker child connect]

Each home is a process of its own that stands for the Celery worker, and runs the same
back-test: of a small lake, cold (from the start of the process) and warm, and of ten
million samples. Printed for each are elapsed time and processor time, the peak resident
memory of the process and all below it, and what is resident 20 seconds after the last
job; for the child, also what is left when it has ended because it was idle.

Spark Connect's server is the one that comes with PySpark, started as
`start-connect-server.sh` does; its client needs grpcio, grpcio-status and
googleapis-common-protos beside PySpark.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from analytics.jobs import run_job
from analytics.jre import java_environment, real_java
from analytics.places import ROOT
from analytics.requests import JobRequest
from analytics.session import SessionSettings, start_session
from benchmarks.backtest.__main__ import lake_of, run_once
from benchmarks.backtest.contender import request_for
from benchmarks.lake_generator import Shape, generate
from benchmarks.usage import Watch, resident_bytes
from dashboard.jobs.child import AnalyticsChild, child_environment

HOMES: Final = ("worker", "child", "connect")
SMALL: Final = Shape(groups=50, queues=8, hours=0.5)
MILLIONS: Final = 10
IDLE_SECONDS: Final = 20
START_SECONDS: Final = 300
SERVER: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"


def main() -> None:
    """Compare the homes, or be one."""
    given = _arguments()
    if given.home:
        _serve(given.home)
        return
    small = given.lakes / "lake-small"
    if not (small / "made").exists():
        generate(str(small), SMALL)
        (small / "made").write_text("")
    lakes = {"small": small, f"{MILLIONS} million": lake_of(given.lakes, MILLIONS)}
    for home in given.only:
        _measure(home, lakes)


def _measure(home: str, lakes: Mapping[str, Path]) -> None:
    small, large = lakes
    with tempfile.TemporaryDirectory(prefix="spark-homes-") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.spark_homes", "--home", home],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        runs = [("cold", small), ("warm", small), ("warm", small), ("", large)]
        try:
            for number, (state, size) in enumerate(runs):
                with Watch(process.pid) as watch:
                    run_once(process, lakes[size], Path(output, str(number)))
                used = watch.usage
                clock = used.clock if number else time.perf_counter() - began
                print(
                    f"{home:8} {size:10} {state:5} {clock:7.1f} s {used.cpu:7.1f} s of "
                    f"processors {used.peak / 1e6:7,.0f} MB",
                    flush=True,
                )
            time.sleep(IDLE_SECONDS)
            print(f"{home:8} idle {resident_bytes(process.pid) / 1e6:,.0f} MB")
            if home == "child":
                _tell(process, {"stop": True})
                left = resident_bytes(process.pid) / 1e6
                print(f"{home:8} ended {left:,.0f} MB", flush=True)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(120)


def _tell(process: subprocess.Popen[str], line: dict[str, Any]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(line) + "\n")
    process.stdin.flush()
    process.stdout.readline()


def _serve(home: str) -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="spark-home-") as folder:
        run, stop = _MADE[home](Path(folder))
        try:
            for line in sys.stdin:
                given = json.loads(line)
                if "stop" in given:
                    stop()
                else:
                    run(request_for(**given))
                answers.write(json.dumps({"done": True}) + "\n")
        finally:
            stop()


Home = tuple[Callable[[JobRequest], None], Callable[[], None]]


def _worker(folder: Path) -> Home:
    session = start_session(SessionSettings(folder / "spark"))
    return lambda request: _run(session, request), session.stop


def _child(folder: Path) -> Home:
    child = AnalyticsChild(child_environment() | {"ROCKETSCOPE_VAR_DIR": str(folder)})

    def run(request: JobRequest) -> None:
        for event in child.run("job", request):
            if event and event["event"] not in {"progress", "done"}:
                raise SystemExit(f"the job ended: {event}")

    return run, child.stop


def _connect(folder: Path) -> Home:
    """A server below this process, and a client in it."""
    from pyspark.sql import SparkSession

    settings = SessionSettings(folder / "spark")
    settings.work_dir.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        _server_command(settings, port),
        env={
            **java_environment(real_java(os.environ), folder / "java-shim"),
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": sys.executable,
        },
    )
    deadline = time.monotonic() + START_SECONDS
    while not _answers(port):
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"the server did not start: {server.poll()}")
        time.sleep(0.1)
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()

    def stop() -> None:
        session.stop()
        server.terminate()
        server.wait(60)

    return lambda request: _run(session, request), stop


def _server_command(settings: SessionSettings, port: int) -> list[str]:
    import pyspark

    from analytics.session import configuration

    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit")]
    command += ["--master", settings.master, "--class", SERVER]
    given = {
        **configuration(settings),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    for key, value in given.items():
        command += ["--conf", f"{key}={value}"]
    return [*command, "spark-internal"]


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _run(session: Any, request: JobRequest) -> None:
    run_job(lambda: session, request, lambda _part, _phase: None)


_MADE: Final[Mapping[str, Callable[[Path], Home]]] = {
    "worker": _worker,
    "child": _child,
    "connect": _connect,
}


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--lakes",
        type=Path,
        default=Path(tempfile.gettempdir()) / "rocketscope-lakes",
        help="folder that keeps generated lakes",
    )
    parser.add_argument("--only", nargs="*", default=HOMES, choices=HOMES)
    parser.add_argument("--home", choices=HOMES, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
