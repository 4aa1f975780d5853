"""Apache RocketMQ's published jars, fetched once with Maven and kept outside the tree.

They land in ROCKETSCOPE_VAR_DIR when that is set, else in the user's cache. Several
test processes may ask at once: one fetches, the others wait for it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

VERSION_SETTING: Final = "ROCKETSCOPE_TEST_ROCKETMQ_VERSION"
DEFAULT_VERSION: Final = "5.5.0"
JAVA_DIRECTORY: Final = Path(__file__).parents[1] / "interop" / "java"
_FETCH_SECONDS: Final = 600


def rocketmq_version() -> str:
    """Return the version under test: 5.5.0, or what the environment chooses."""
    return os.environ.get(VERSION_SETTING, DEFAULT_VERSION)


def missing_tool() -> str | None:
    """Return why a real RocketMQ cannot be started here, or None when it can."""
    missing = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
    if not missing:
        return None
    return f"needs {', '.join(missing)} on PATH to run a real Apache RocketMQ"


def cache_directory() -> Path:
    """Return where fetched jars and compiled drivers are kept."""
    var = os.environ.get("ROCKETSCOPE_VAR_DIR")
    root = Path(var) if var else Path.home() / ".cache" / "rocketscope"
    return root / "apache-rocketmq"


def rocketmq_jars(version: str) -> Path:
    """Return the folder with the jars of that version, fetching them when absent."""
    target = cache_directory() / version
    stamp = target / ".complete"
    if stamp.exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    with (cache_directory() / f"{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            _fetch(version, target)
            stamp.touch()
    return target


def _fetch(version: str, target: Path) -> None:
    done = subprocess.run(
        [
            "mvn",
            "-B",
            "-q",
            f"--file={JAVA_DIRECTORY / 'pom.xml'}",
            "dependency:copy-dependencies",
            f"-DoutputDirectory={target}",
            "-DincludeScope=runtime",
            f"-Drocketmq.version={version}",
        ],
        capture_output=True,
        text=True,
        timeout=_FETCH_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"mvn could not fetch RocketMQ {version}: {done.stdout}")
