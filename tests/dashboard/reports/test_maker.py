from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from dashboard.reports.data.results import NoResultError
from dashboard.reports.maker import MISSING, ending_of

WISH = {"run": 1, "form": "pdf"}


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (NoResultError("no data set x"), MISSING, "no data set x"),
        (FileNotFoundError("gone"), MISSING, "gone"),
        (MemoryError(), None, "the file needs more than 2048 MB"),
        (OSError("disk full"), None, "disk full"),
        (KeyError(), None, "KeyError"),
    ],
)
def test_an_error_is_told_and_the_next_file_is_made(
    error: Exception, kind: str | None, said: str
) -> None:
    def fail(_wish: Mapping[str, Any]) -> None:
        raise error

    ending = ending_of(WISH, fail)
    assert (ending["event"], ending.get("kind")) == ("failed", kind)
    assert ending["error"] == said
    assert ending_of(WISH, lambda _wish: None) == {"event": "done"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_that_takes_too_much_gets_a_memory_error() -> None:
    script = (
        "from dashboard.reports.maker import limit_memory\n"
        "limit_memory(50_000_000)\n"
        "try:\n    bytearray(100_000_000)\n"
        "except MemoryError:\n    print('bounded')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "bounded\n"
