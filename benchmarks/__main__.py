"""Run the benchmarks that have goals, and print what was reached beside each goal.

    python -m benchmarks                  all of them, half an hour
    python -m benchmarks whatif broker    some of them
    python -m benchmarks --check          exit with 1 where a goal was missed

Each benchmark is a process of its own, and prints its details as it goes; the table of
goals comes at the end, with the machine. Nothing else should run meanwhile. Those with
a peer (Apache's broker, DuckDB) measure it in the same run and state ratios.

The yardstick is a fixed piece of Python: where it took twice as long, so did all else.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.goals import cells_of

ROOT: Final = Path(__file__).resolve().parent.parent
RUNS: Final[dict[str, list[str]]] = {
    "startup": ["--times", "1", "--report"],
    "collecting": [],
    "dividing": [],
    "watching": [],
    "sockets": [],
    "group_page": [],
    "whatif": [],
    "whatif_page": [],
    "broker": ["--apache"],
    "backtest": ["--sizes", "10", "50", "--without", "pandas"],
}


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments name; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    parser.add_argument("--check", action="store_true", help="exit with 1 for a miss")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in RUNS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(RUNS)}")
    reached: list[list[str]] = []
    failed: list[str] = []
    before = yardstick_ms()
    for name in given.names or RUNS:
        code, cells = run(name, RUNS[name])
        reached += cells
        if code:
            failed.append(f"{name} ended with code {code}")
    print(
        f"\n{machine()}, yardstick {before:.0f} ms before, {yardstick_ms():.0f} after\n"
    )
    print(*table(reached), *failed, sep="\n")
    missed = any(cells[-1] != "met" for cells in reached)
    return 1 if failed or (given.check and missed) else 0


def run(name: str, options: Sequence[str]) -> tuple[int, list[list[str]]]:
    """Run a benchmark, print what it prints; return its code and its goals' cells."""
    print(f"\n── {name} {' '.join(options)}", flush=True)
    reached: list[list[str]] = []
    with subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{name}", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            print(line, end="", flush=True)
            cells = cells_of(line)
            if cells:
                reached.append(cells)
    return running.returncode, reached


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as a Markdown table with aligned columns."""
    header = ("figure", "measured", "goal", "")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(len(header))]
    rule = ["-" * width for width in widths]
    return [
        "| "
        + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))
        + " |"
        for row in (header, rule, *rows)
    ]


def machine() -> str:
    """Return what the figures were measured on, and when."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return (
        f"{today}, {os.cpu_count()} cores ({processor()}), {memory:.0f} GiB, "
        f"Python {platform.python_version()}, {platform.system()} {platform.release()}"
    )


def yardstick_ms() -> float:
    """Return what a fixed piece of Python takes now: machines are shared, and vary."""
    took = []
    for _ in range(5):
        began, total = time.process_time(), 0
        for number in range(3_000_000):
            total += number & 7
        took.append((time.process_time() - began) * 1000)
    return median(took)


def processor() -> str:
    """Return the model of the processor as Linux names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if "model name" in line)
    return next(models, platform.machine())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
