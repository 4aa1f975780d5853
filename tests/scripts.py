"""Check the scripts of the pages: their types, their style, and their unit tests.

Users need neither Node nor npm: pages load the scripts as they stand in `static/js`.
Where Node is missing this says so and passes, like tests that need a missing tool.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "tests" / "js"
MODULES = HERE / "node_modules"
CHECKS = (
    ("tsc", "--project", str(HERE)),
    ("eslint", "--config", str(HERE / "eslint.config.js"), "static/js"),
)


def install(folder: Path = HERE) -> int:
    """Install what a folder's lock names, unless that has been done; one at a time."""
    done = folder / "node_modules" / ".package-lock.json"
    lock = folder / "package-lock.json"
    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if done.exists() and done.stat().st_mtime >= lock.stat().st_mtime:
            return 0
        command = ("npm", "ci", "--no-audit", "--no-fund", "--silent")
        return subprocess.call(command, cwd=folder)


def main() -> int:
    """Run every check; return the first exit code that is not 0."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is missing; it checks the scripts of the pages")
            return 0
    failed = install()
    if failed:
        return failed
    codes = [
        subprocess.call([str(MODULES / ".bin" / name), *arguments], cwd=ROOT)
        for name, *arguments in CHECKS
    ]
    tests = ["node", "--test", "--test-reporter=dot", str(HERE)]
    codes.append(subprocess.call(tests, cwd=ROOT))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
