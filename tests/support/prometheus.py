"""A real Prometheus that runs the configuration which ships with the project."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from .launched import ROOT
from .ports import LOOPBACK, free_port
from .process import Process
from .waiting import wait_until

SHIPPED: Final = ROOT / "deploy/prometheus"
_SHIPPED_TARGET: Final = "127.0.0.1:8300"


def promtool(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run Prometheus's own checker; skip the test where it is missing."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    return subprocess.run(
        [program, *arguments],
        input=given,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class Prometheus:
    """A running server."""

    def __init__(self, port: int) -> None:
        self._address = f"http://{LOOPBACK}:{port}/api/v1/"

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return what an expression gives now; each with `metric` and `value`."""
        found: list[dict[str, Any]] = self._ask("query", query=expression)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Return every rule with its `health` and `lastError`."""
        groups = self._ask("rules")["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def targets(self) -> dict[str, str]:
        """Return the health of each job's target."""
        active = self._ask("targets")["activeTargets"]
        return {each["labels"]["job"]: each["health"] for each in active}

    def _ask(self, what: str, **given: str) -> dict[str, Any]:
        with urlopen(f"{self._address}{what}?{urlencode(given)}", timeout=30) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
            return data


@contextmanager
def running_prometheus(folder: Path, *, web: str) -> Iterator[Prometheus]:
    """Start Prometheus with the shipped files on a web process `host:port`."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("Prometheus is not installed (Debian: prometheus)")
    folder.mkdir(parents=True)
    shutil.copy(SHIPPED / "rules.yml", folder)
    text = (SHIPPED / "prometheus.yml").read_text("utf-8")
    assert _SHIPPED_TARGET in text
    text = text.replace(_SHIPPED_TARGET, web).replace(": 15s", ": 1s")
    (folder / "prometheus.yml").write_text(text, "utf-8")
    port = free_port()
    process = Process(
        [
            program,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={LOOPBACK}:{port}",
        ],
        log=folder / "prometheus.log",
        cwd=folder,
    )
    try:
        wait_until(lambda: _is_ready(port), "Prometheus")
        yield Prometheus(port)
    finally:
        process.kill()


def _is_ready(port: int) -> bool:
    with suppress(OSError), urlopen(f"http://{LOOPBACK}:{port}/-/ready", timeout=5):
        return True
    return False
