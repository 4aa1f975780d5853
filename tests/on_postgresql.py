"""Run the tests of what differs between databases on a real PostgreSQL.

    ./rocketscope python tests/on_postgresql.py [ARGS]    with ARGS for pytest

SQLite takes texts of any length, NUL, and one writer at a time, and goes on after an
error within a transaction; PostgreSQL does none of this. The tests are those of rows
that others name, of writers that compete, and of what counts, sorts and searches.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.postgresql import programs, running_server  # noqa: E402

TESTS: Final = (
    "tests/attacks/test_stored_names.py",
    "tests/attacks/test_audit.py",
    "tests/attacks/test_counted_at_once.py",
    "tests/dashboard/alerting/test_outbox.py",
    "tests/dashboard/alerting/test_records.py",
    "tests/dashboard/audit",
    "tests/dashboard/collector/test_records.py",
    "tests/dashboard/fleet/test_claims.py",
    "tests/dashboard/fleet/test_runs.py",
    "tests/dashboard/hosting/test_writes.py",
    "tests/dashboard/jobs/test_retention.py",
    "tests/dashboard/labs/test_runs.py",
    "tests/dashboard/labs/test_writes.py",
    "tests/dashboard/reports/test_lost.py",
    "tests/dashboard/whatif/test_writes.py",
)
LIGHT: Final = "not (embedded or browser or interop or spark or slow)"


def main(arguments: Sequence[str]) -> int:
    """Run pytest on a new server; return its exit code, 0 where there is none."""
    if programs() is None:
        print("skipped: PostgreSQL is not installed (Debian: postgresql)")
        return 0
    with running_server() as url:
        return subprocess.call(
            [
                *(sys.executable, "-m", "pytest", "-m", LIGHT),
                *(arguments or TESTS),
            ],
            cwd=ROOT,
            env={**os.environ, "ROCKETSCOPE_DATABASE_URL": url},
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
