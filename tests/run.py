"""Every check and test of the project, in order; what `./rocketscope test` runs.

    ./rocketscope test             everything
    ./rocketscope test -- ARGS     pytest alone, with ARGS
    ./rocketscope test --quick     without what starts clusters, browsers or Spark

Goes on after a failure, so that one run shows all there is, and exits with the code of
the first one. Cheap checks come first.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TOOLS = Path(PYTHON).parent
HEAVY = "embedded or browser or interop or spark"

CHECKS: dict[str, list[str]] = {
    "locks are fresh": [PYTHON, "tests/locks.py"],
    "format": [str(TOOLS / "ruff"), "format", "--check", "."],
    "lint": [str(TOOLS / "ruff"), "check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "import contracts": [str(TOOLS / "lint-imports")],
    "scripts of the pages": [PYTHON, "tests/scripts.py"],
}
# Rooms whose own tests take every branch, and where those tests are.
COVERED: dict[str, list[str]] = {
    "rmqcore.protocol": ["tests/rmqcore/protocol"],
    "rmqcore.allocation": ["tests/rmqcore/allocation"],
    "rmqcore.offsets": ["tests/rmqcore/offsets"],
    "rmqcore.store": ["tests/rmqcore/store"],
    "rmqcore.client.membership.process_queue": [
        "tests/rmqcore/client/membership/test_process_queue.py",
        "tests/rmqcore/client/membership/test_process_queue_model.py",
    ],
}
COVERED_TESTS = [path for paths in COVERED.values() for path in paths]
QUICK = (PYTHON, "-m", "pytest", "-n", "2", "--dist", "worksteal")

QUICK_TESTS: dict[str, list[str]] = {
    "rooms whose every branch is tested": [
        *(*QUICK, *COVERED_TESTS),
        *(f"--cov={module}" for module in COVERED),
        *("--cov-branch", "--cov-fail-under=100"),
        "--cov-report=term-missing:skip-covered",
    ],
    "unit and property tests": [
        *(*QUICK, "-m", f"not ({HEAVY})"),
        *(f"--ignore={path}" for path in COVERED_TESTS),
    ],
}
HEAVY_TESTS: dict[str, list[str]] = {
    # One after another: each of these wants both cores for itself.
    "embedded stack, browser, Spark, interop": [
        *(PYTHON, "-m", "pytest", "-p", "no:randomly", "--durations", "15"),
        *("-m", HEAVY),
    ],
}


def run(steps: dict[str, list[str]]) -> int:
    """Run every step in order; return the first exit code that is not 0."""
    failed: dict[str, int] = {}
    for name, command in steps.items():
        print(f"── {name}", flush=True)
        began = time.monotonic()
        code = subprocess.call(command, cwd=ROOT)
        print(f"   {name}: {time.monotonic() - began:.0f} s", flush=True)
        if code != 0:
            failed[name] = code
    for name, code in failed.items():
        print(f"failed with exit code {code}: {name}", flush=True)
    return next(iter(failed.values()), 0)


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for; return the exit code."""
    if arguments[:1] == ["--"]:
        return subprocess.call([PYTHON, "-m", "pytest", *arguments[1:]], cwd=ROOT)
    steps = CHECKS | QUICK_TESTS
    if list(arguments) != ["--quick"]:
        if arguments:
            print(__doc__, file=sys.stderr)
            return 2
        steps = steps | HEAVY_TESTS
    return run(steps)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
