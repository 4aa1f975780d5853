"""Starting and stopping the stack, and the sentences when it cannot start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.support.launched import ROOT, LaunchedStack
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dashboard.supervisor", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return True
    return state[0] == "Z"


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = start("--listen", f"127.0.0.1:{port}", "--var-dir", str(tmp_path))
    assert done.returncode == 1
    assert f"port {port} on 127.0.0.1 is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_a_sentence(tmp_path: Path) -> None:
    done = start(
        "--var-dir", str(tmp_path), ROCKETSCOPE_CLUSTERS="prod=nowhere-without-port"
    )
    assert done.returncode == 1
    assert "ROCKETSCOPE_CLUSTERS" in done.stderr
    assert "'nowhere-without-port' is not host:port" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    done = start("--var-dir", str(blocked / "var"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert str(blocked) in done.stderr


def test_a_second_start_from_the_same_place_is_refused(stack: LaunchedStack) -> None:
    stack.sign_in_link()
    done = start("--listen", "127.0.0.1:1", "--var-dir", str(stack.var_dir))
    assert done.returncode == 1
    assert "already runs" in done.stderr
    assert stack.address in done.stderr


def test_health_and_metrics_answer_strangers(stack: LaunchedStack) -> None:
    stack.sign_in_link()
    for path in ("/healthz", "/readyz", "/metrics"):
        with urllib.request.urlopen(stack.address + path, timeout=60) as answer:
            assert answer.status == 200, path


def test_ctrl_c_stops_every_child_and_a_second_start_reuses(tmp_path: Path) -> None:
    first = LaunchedStack(tmp_path)
    first.sign_in_link()
    children = first.child_pids()
    assert len(children) >= 8
    assert first.stop() == 0
    assert all(map(is_gone, children))
    second = LaunchedStack(tmp_path)
    link = second.sign_in_link()
    assert link.startswith(second.address)
    # A worker that is killed is started again, and the page goes on.
    victims = second.child_pids()
    os.kill(victims[-1], signal.SIGKILL)
    deadline = time.monotonic() + 60
    while "starts again" not in second.output():
        assert time.monotonic() < deadline, second.output()
        time.sleep(0.1)
    with urllib.request.urlopen(second.address + "/healthz", timeout=60) as answer:
        assert answer.status == 200
    assert second.stop() == 0


def test_an_exporter_serves_metrics_and_no_pages(tmp_path: Path) -> None:
    stack = LaunchedStack(tmp_path, options=["--exporter"])
    metrics = f"{stack.address}/metrics/groups"
    try:
        wait_until(lambda: metrics in stack.output() or not stack.running, "exporter")
        assert stack.running, stack.output()
        assert "sign" not in stack.output().lower()
        with urllib.request.urlopen(metrics, timeout=60) as answer:
            assert b"# TYPE rocketscope_group_lag_messages gauge" in answer.read()
        for path in ("/", "/sign-in/", "/api/v1/openapi.json"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(stack.address + path, timeout=60)
            assert refused.value.code == 404
            assert b"runs as an exporter" in refused.value.read()
        wait_until(lambda: logs_of(stack) >= {"analytics", "collector"}, "workers")
        assert not {name for name in logs_of(stack) if name.startswith("fleet")}
    finally:
        assert stack.stop() == 0


def logs_of(stack: LaunchedStack) -> set[str]:
    """Return the names of the processes that were started."""
    return {log.stem for log in (stack.var_dir / "logs").glob("*.log")}
