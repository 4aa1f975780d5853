"""Every check and test of the project; what `./rocketscope test` runs.

    ./rocketscope test             everything
    ./rocketscope test -- ARGS     pytest alone, with ARGS
    ./rocketscope test --quick     without what starts clusters, browsers or Spark

The large pytest run shows what it does as it goes. It mostly waits for the processes
that it starts, so that all other steps run beside it, one after another and the cheap
ones first; the output of each is printed whole when it ends. Goes on after a failure,
so that one run shows all there is, and exits with the code of the first step that
failed, in the order in which they stand here.

Tests of the large run that fail are named at once. If they are few, they are run again
at the end, with the machine to themselves: some wait for processes that a busy machine
starves. What fails again has failed; what passes then is named, and is to be looked at.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.sharing import HEAVY

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TOOLS = Path(PYTHON).parent
# Tests of clusters and browsers mostly wait; those that compute fill that time. With
# fewer, two Spark sessions would leave one process to all that waits.
WORKERS = str(min(8, 2 * (os.cpu_count() or 1)))

# A machine that runs this once has no use for what mypy keeps for the next time.
NOTHING_KEPT = ("--cache-dir", os.devnull) if os.environ.get("CI") else ()

CHECKS: dict[str, list[str]] = {
    "format": [str(TOOLS / "ruff"), "format", "--check", "."],
    "lint": [str(TOOLS / "ruff"), "check", "."],
    "import contracts": [str(TOOLS / "lint-imports")],
    "locks are fresh": [PYTHON, "tests/locks.py"],
    "scripts of the pages": [PYTHON, "tests/scripts.py"],
    "types": [PYTHON, "-m", "mypy", *NOTHING_KEPT],
}
# Rooms whose own tests take every branch, and where those tests are.
COVERED: dict[str, list[str]] = {
    "rmqcore.protocol": ["tests/rmqcore/protocol"],
    "rmqcore.allocation": ["tests/rmqcore/allocation"],
    "rmqcore.offsets": ["tests/rmqcore/offsets"],
    "rmqcore.store": ["tests/rmqcore/store"],
    "rmqcore.client.membership.process_queue": [
        "tests/rmqcore/client/membership/test_process_queue.py",
    ],
}
COVERED_TESTS = [path for paths in COVERED.values() for path in paths]
# Measuring takes three times as long. So what makes up its examples is measured with
# few of them, and has all of them in the large run.
MEASURED = ("--hypothesis-profile", "few")
PYTEST = (PYTHON, "-m", "pytest", "--numprocesses", WORKERS)

ROOMS_COVERED: dict[str, list[str]] = {
    "rooms whose every branch is tested": [
        *(PYTHON, "-m", "pytest", *COVERED_TESTS, *MEASURED),
        *(f"--cov={module}" for module in COVERED),
        *("--cov-branch", "--cov-fail-under=100"),
        "--cov-report=term-missing:skip-covered",
    ],
}
OTHERS = (*PYTEST, *(f"--examples-only={path}" for path in COVERED_TESTS))
# Little of it, on another database than all else.
ON_POSTGRESQL: dict[str, list[str]] = {
    "tests on PostgreSQL": [PYTHON, "tests/on_postgresql.py"],
}
QUICK_TESTS: dict[str, list[str]] = {
    "unit and property tests": [
        *(*OTHERS, "--dist", "worksteal"),
        *("-m", f"not ({' or '.join(HEAVY)})"),
    ],
}
# Exists once the tests have been compiled: nothing in it is needed to start them.
COMPILED = ROOT / "tests" / "docs" / "__pycache__"
# The tests of the large run that failed; of these, this many are run again. All cases
# of a test count as one: they may share a cluster, whose start fails for all of them.
FAILED = ROOT / ".pytest_cache" / "failed.txt"
FEW = 20
ALL_TESTS: dict[str, list[str]] = {
    # `tests.support.sharing` says which of them run in one process, and which first.
    "unit, property and embedded tests, browser, Spark, interop": [
        *(*OTHERS, "--dist", "loadgroup", "--no-loadscope-reorder"),
        *("--durations", "40", "--list-failed", str(FAILED)),
    ],
}


def run(steps: Mapping[str, list[str]], beside: Mapping[str, list[str]]) -> int:
    """Run steps, and others beside them; return the first exit code that is not 0.

    Those `beside` run one after another. An interrupt ends all.
    """
    FAILED.unlink(missing_ok=True)
    codes = dict.fromkeys(beside, 1)  # what cannot be started has failed
    others = threading.Thread(target=run_whole, args=(beside, codes), daemon=True)
    others.start()
    if not COMPILED.exists():
        compile_tests()
    for name, command in steps.items():
        print(f"── {name}", flush=True)
        began = time.monotonic()
        codes[name] = subprocess.call(command, cwd=ROOT)
        print(f"   {name}: {time.monotonic() - began:.0f} s", flush=True)
    others.join()
    for name in ALL_TESTS.keys() & steps.keys():
        codes[name] = codes[name] and run_failed_again(codes[name])
    failed = {name: code for name, code in codes.items() if code}
    for name, code in failed.items():
        print(f"failed with exit code {code}: {name}", flush=True)
    return next(iter(failed.values()), 0)


def compile_tests() -> None:
    """Compile all tests once: the processes of the run would each do it for themselves.

    Errors are not reported here, since the run reports them.
    """
    print("── compiling the tests", flush=True)
    subprocess.run(
        [PYTHON, "-m", "pytest", "--collect-only", "-qq"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def run_failed_again(code: int) -> int:
    """Run the few tests that failed once more; return 0 if all pass, else `code`."""
    names = FAILED.read_text().splitlines() if FAILED.exists() else []
    tests = {name.partition("[")[0] for name in names}
    # Other codes of pytest say that something else went wrong than tests.
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(tests) <= FEW:
        return code
    print(f"── {len(names)} failed; they are run again, by themselves", flush=True)
    again = subprocess.call([PYTHON, "-m", "pytest", f"@{FAILED}"], cwd=ROOT)
    if again:
        return code
    print("passed only by themselves:", *names, sep="\n   ", flush=True)
    return 0


def run_whole(steps: Mapping[str, list[str]], codes: dict[str, int]) -> None:
    """Run steps one after another, print what each says at its end, and set `codes`."""
    for name, command in steps.items():
        began = time.monotonic()
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        codes[name] = done.returncode
        took = f"{time.monotonic() - began:.0f} s"
        # The line before may be pytest's, and without an end.
        print(f"\n── {name}\n{done.stdout}   {name}: {took}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for; return the exit code."""
    if arguments[:1] == ["--"]:
        return subprocess.call([PYTHON, "-m", "pytest", *arguments[1:]], cwd=ROOT)
    if list(arguments) not in ([], ["--quick"]):
        print(__doc__, file=sys.stderr)
        return 2
    if arguments:
        return run(QUICK_TESTS, beside=CHECKS | ROOMS_COVERED)
    return run(ALL_TESTS, beside=CHECKS | ROOMS_COVERED | ON_POSTGRESQL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
