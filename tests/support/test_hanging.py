"""The watchdog, in a run of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from analytics.places import ROOT

_FAILS_AND_HANGS = """
import time
import pytest

@pytest.fixture
def slow_to_clear_up():
    yield
    time.sleep(300)

def test_one(slow_to_clear_up):
    assert False
"""


def test_what_hangs_after_a_failure_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "test_one.py"
    file.write_text(_FAILS_AND_HANGS)
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "-o", "timeout=1"]
    plugins = ("-p", "pytest_timeout", "-p", "tests.support.hanging")
    ended = subprocess.run(
        [*command, *plugins, "-p", "no:cacheprovider", str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 1
    assert "in slow_to_clear_up" in ended.stderr, ended.stderr
