"""Back-test six strategies over 1, 10 and 50 million samples, beside two other ways.

python -m benchmarks.backtest [--sizes 0.1 1] [--lakes DIR] [--without pandas]

Each contender is a process of its own and works through the same lakes, smallest first,
which also warms it up: our job, the same by `applyInPandas` (up to ten million), and
the same in DuckDB. Pandas is not among what is installed: install it, or leave it out
with `--without pandas`. What they found in the smallest lake is compared row by row.
Printed for each run are elapsed time, processor time, and the peak resident memory of
all processes of the contender. On a machine that does other things at the same time,
processor time says more than elapsed time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from analytics import contracts as c
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import open_storage
from benchmarks.backtest.comparison import TOLD, compare
from benchmarks.goals import Goal
from benchmarks.lake_generator import Shape, generate
from benchmarks.usage import Usage, Watch

MILLION: Final = 1_000_000
SAMPLES_AN_HOUR: Final = 5_588_000
GROUPS: Final = 1_200
CHANGES_A_DAY: Final = 48.0
NAMES: Final = {
    "ours": "python -m analytics backtest",
    "pandas": "applyInPandas",
    "duckdb": "DuckDB",
}
MOST_FOR_PANDAS: Final = 10

TIMES_FASTER: Final = 15.0
TIMES_SLOWER: Final = 1.0
MEMORY_GROWTH: Final = 1.3
ROUNDING: Final = 1.1
"""Growth of the time over that of the data which is still linear."""

LAKE: Final = "groups"
"""Part of the names of kept lakes; changed when their contents change."""

Results = dict[tuple[str, float], Usage]


def main() -> None:
    """Make the lakes, run the contenders, print figures and ratios."""
    given = _arguments()
    sizes = given.sizes or [1, 10, *([50] if given.fifty else [])]
    lakes = {size: lake_of(given.lakes, size) for size in sorted(sizes)}
    results: Results = {}
    with tempfile.TemporaryDirectory(prefix="backtest-out-") as folder:
        for name in NAMES:
            if name not in given.without:
                _run(name, lakes, Path(folder), results)
        _compare(Path(folder), min(lakes), given.without)
    _print_ratios(results, sorted(lakes))


def lake_of(folder: Path, millions: float) -> Path:
    """Return the lake of that size, made if it is not there yet."""
    lake = folder / f"lake-{LAKE}-{millions:g}m"
    done = lake / "made"
    if not done.exists():
        shutil.rmtree(lake, ignore_errors=True)
        # Less than a million means fewer groups: in a shorter time, little happens.
        groups = round(GROUPS * min(1, millions))
        hours = max(1, millions) * MILLION / SAMPLES_AN_HOUR
        shape = Shape(groups=groups, hours=hours, changes=CHANGES_A_DAY)
        print(f"making {millions:g} million samples …", flush=True)
        generate(str(lake), shape)
        done.write_text("")
    storage = open_storage(str(lake))
    samples = load_manifest(storage, c.SAMPLES)
    epochs = load_manifest(storage, c.EPOCHS)
    print(f"{lake}: {samples.rows:,} samples, {epochs.rows:,} epochs", flush=True)
    return lake


def _run(
    name: str, lakes: Mapping[float, Path], folder: Path, results: Results
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.backtest.contender", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    smallest = min(lakes)
    try:
        # The first run only warms: files, code, the compilers of Java.
        run_once(process, lakes[smallest], folder / name / "warm")
        for size, lake in lakes.items():
            if name == "pandas" and size > MOST_FOR_PANDAS:
                continue
            with Watch(process.pid) as watch:
                run_once(process, lake, _output(folder, name, size))
            results[name, size] = watch.usage
            _print_usage(name, size, watch.usage)
            if size != smallest:
                shutil.rmtree(_output(folder, name, size))
    finally:
        _end(process)


def run_once(process: subprocess.Popen[str], lake: Path, output: Path) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    line = json.dumps({"lake": str(lake), "output": str(output)})
    process.stdin.write(line + "\n")
    process.stdin.flush()
    if not process.stdout.readline():
        raise SystemExit(f"the contender ended with exit code {process.wait()}")


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _output(folder: Path, name: str, size: float) -> Path:
    return folder / name / f"{size:g}"


def _compare(folder: Path, size: float, without: Collection[str]) -> None:
    """Check that the others found what our job did."""
    for name in NAMES:
        if name == "ours" or {name, "ours"} & set(without):
            continue
        found = compare(
            _output(folder, "ours", size), _output(folder, name, size), TOLD[name]
        )
        wrong = [f"{dataset}: {each}" for dataset, each in found.items() if each.wrong]
        if wrong:
            raise SystemExit(f"ours and {NAMES[name]} differ in " + "; ".join(wrong))
        for dataset, each in found.items():
            print(f"{dataset}: {each} in {NAMES[name]}", flush=True)


def _print_usage(name: str, size: float, usage: Usage) -> None:
    print(
        f"{NAMES[name]:32} {size:5g} million {usage.clock:8.1f} s "
        f"{usage.cpu:8.1f} s of processors {usage.peak / MILLION:8,.0f} MB",
        flush=True,
    )


def _print_ratios(results: Results, sizes: Sequence[float]) -> None:
    def ratio(goal: Goal, upper: Usage, lower: Usage) -> None:
        clock, cpu = upper.clock / lower.clock, upper.cpu / lower.cpu
        print(f"{goal.what}: {clock:.2f} by the clock, {cpu:.2f} by processors")
        print(goal.line(clock))

    for size in sizes:
        ours = results.get(("ours", size))
        pandas, duckdb = results.get(("pandas", size)), results.get(("duckdb", size))
        if ours and pandas:
            what = f"back-test of {size:g} million, applyInPandas over ours"
            ratio(Goal(what, TIMES_FASTER, "times", at_least=True), pandas, ours)
        if ours and duckdb:
            what = f"back-test of {size:g} million, ours over DuckDB"
            ratio(Goal(what, TIMES_SLOWER, "times"), ours, duckdb)
    for smaller, larger in pairwise(sizes):
        pair = results.get(("ours", smaller)), results.get(("ours", larger))
        if pair[0] and pair[1] and smaller >= 1:
            what = f"back-test, time from {smaller:g} to {larger:g} million"
            ratio(Goal(what, larger / smaller * ROUNDING, "times"), pair[1], pair[0])
    small, large = results.get(("ours", 10)), results.get(("ours", sizes[-1]))
    if small and large and sizes[-1] > 10:
        what = f"back-test, peak memory from 10 to {sizes[-1]:g} million"
        print(Goal(what, MEMORY_GROWTH, "times").line(large.peak / small.peak))


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--fifty", action="store_true", help="fifty million, too")
    parser.add_argument(
        "--sizes", type=float, nargs="*", metavar="N", help="millions; default 1 10"
    )
    parser.add_argument(
        "--lakes",
        type=Path,
        default=Path(tempfile.gettempdir()) / "rocketscope-lakes",
        help="folder that keeps generated lakes",
    )
    parser.add_argument(
        "--without", nargs="*", default=[], choices=list(NAMES), help="leave out"
    )
    given = parser.parse_args()
    if "pandas" not in given.without and find_spec("pandas") is None:
        parser.error("pandas is not installed: install it, or add --without pandas")
    return given


if __name__ == "__main__":
    main()
