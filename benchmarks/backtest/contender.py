"""One contender in a process of its own.

Reads a JSON line per run, `{"lake": …, "output": …}`, and answers each with a line.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Protocol

from analytics import contracts as c
from analytics.requests import JobRequest
from benchmarks.lake_generator import NEARBY, OPTIONS

STRATEGIES = (
    "AVG",
    "AVG_BY_CIRCLE",
    "CONFIG",
    "MACHINE_ROOM",
    NEARBY,
    "CONSISTENT_HASH",
)
STEP_SECONDS = 60


class Contender(Protocol):
    """Something that back-tests a lake and writes what it found."""

    def run(self, request: JobRequest) -> None:
        """Do the whole work once."""


def request_for(lake: str, output: str) -> JobRequest:
    """Return the work that all contenders do."""
    options: dict[str, Any] = json.loads((Path(lake) / OPTIONS).read_text())
    return JobRequest(
        job=c.JOB_BACKTEST,
        lake=lake,
        output=output,
        step_seconds=STEP_SECONDS,
        options=options,
        strategies=STRATEGIES,
    )


def main() -> None:
    """Serve runs until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="backtest-") as folder:
        contender = _made(sys.argv[1], Path(folder))
        for line in sys.stdin:
            contender.run(request_for(**json.loads(line)))
            answers.write(json.dumps({"done": True}) + "\n")


def _made(name: str, folder: Path) -> Contender:
    if name == "duckdb":
        from benchmarks.backtest.duckdb_sql import DuckContender

        return DuckContender(folder)
    if name == "pandas":
        from benchmarks.backtest.pandas_function import PandasContender

        return PandasContender(folder)
    from benchmarks.backtest.ours import OurContender

    return OurContender(folder)


if __name__ == "__main__":
    main()
