"""The whole stack as a user starts it, in a directory of its own and on free ports."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from .apache import BRIEF_SPARK
from .database import rows_of
from .ports import free_port
from .process import Process
from .waiting import wait_until

ROOT: Final = Path(__file__).resolve().parent.parent.parent
START_TIMEOUT_S: Final = 180.0
STOP_TIMEOUT_S: Final = 90.0
SAMPLES_TIMEOUT_S: Final = 600.0
REPORT_TIMEOUT_S: Final = 1200.0
"""Analytics has the lowest priority: other tests beside this one make it wait."""


class LaunchedStack:
    """`./rocketscope up` without the installing: the supervisor and its children.

    Another command may be given, with the folder where it is typed. With a `var_dir`,
    that is where the command is to find its state by itself.
    """

    def __init__(
        self,
        directory: Path,
        env: Mapping[str, str] | None = None,
        *,
        options: Sequence[str] = (),
        command: Sequence[str] = (sys.executable, "-m", "dashboard.supervisor"),
        cwd: Path = ROOT,
        var_dir: Path | None = None,
    ) -> None:
        self.var_dir = var_dir or directory / "var"
        named = () if var_dir else ("--var-dir", str(self.var_dir))
        self.listen = f"127.0.0.1:{free_port()}"
        self._process = Process(
            [
                *command,
                *("--listen", self.listen, *named),
                *options,
            ],
            log=directory / "supervisor.log",
            env={
                "ROCKETSCOPE_CLUSTERS": "",
                "ROCKETSCOPE_REDIS_URL": "",
                "JAVA_TOOL_OPTIONS": BRIEF_SPARK,
                **(env or {}),
            },
            cwd=cwd,
        )

    @property
    def address(self) -> str:
        """The page's address, without a slash at the end."""
        return f"http://{self.listen}"

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """True until the supervisor has ended."""
        return self._process.running

    def output(self) -> str:
        """Return what the person at the terminal has seen."""
        return self._process.log.read_text("utf-8")

    def sign_in_link(self) -> str:
        """Wait for the one-time link, which is printed when the page answers."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            for line in self.output().splitlines():
                if line.startswith(self.address) and len(line) > len(self.address) + 8:
                    return line
            if not self.running:
                break
            time.sleep(0.1)
        raise AssertionError(f"no page: {self.output()[-4000:]}{self.logs()}")

    def wait_for_samples(self) -> None:
        """Wait for the first whole minute of samples, which reports are made from."""
        landing = self.var_dir / "lake" / "landing" / "samples"
        deadline = time.monotonic() + SAMPLES_TIMEOUT_S
        while not any(landing.rglob("*.parquet")):
            if time.monotonic() > deadline:
                raise AssertionError(f"no samples in {landing}{self.logs()}")
            time.sleep(0.5)

    def wait_for_reports(self) -> None:
        """Wait until no report is being made: there is one of a group at a time."""
        query = "SELECT 1 FROM dashboard_jobrun WHERE state IN ('queued', 'running')"
        wait_until(
            lambda: not rows_of(self.var_dir, query),
            "reports are done",
            seconds=REPORT_TIMEOUT_S,
        )

    def logs(self) -> str:
        """Return the end of every child's log."""
        return "".join(
            f"\n── {log.name}\n{log.read_text('utf-8', 'replace')[-2000:]}"
            for log in sorted((self.var_dir / "logs").glob("*.log"))
        )

    def redis_url(self) -> str:
        """Return the address, with its password, of the server that `up` started."""
        for pid in self.child_pids():
            environ = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
            for each in environ:
                if each.startswith("ROCKETSCOPE_REDIS_URL=redis:"):
                    return each.partition("=")[2]
        raise AssertionError("no process knows of a Redis server")

    def child_pids(self) -> list[int]:
        """Return the process ids of the supervisor's children, living ones."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in children.read_text("utf-8").split()]

    def stop(self) -> int:
        """Press Ctrl-C; return the exit code, or kill everything after 90 s."""
        self._process.signal(signal.SIGINT)
        try:
            return self._process.wait(STOP_TIMEOUT_S)
        finally:
            self._process.kill()
