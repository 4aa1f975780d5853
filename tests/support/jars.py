"""Published jars that tests need, fetched once with Maven and kept outside the tree.

They land in ROCKETSCOPE_VAR_DIR when that is set, else in the user's cache. Several
test processes may ask at once: one fetches, the others wait for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

VERSION_SETTING: Final = "ROCKETSCOPE_TEST_ROCKETMQ_VERSION"
DEFAULT_VERSION: Final = "5.5.0"
OLDEST_VERSION: Final = "4.9.7"
"""The oldest that tests run on; of 4.9.8 the servers were never published as jars."""
JAVA_DIRECTORY: Final = Path(__file__).parents[1] / "interop" / "java"
S3_POM: Final = Path(__file__).parents[2] / "analytics" / "s3-jars.xml"
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
    """Return where RocketMQ's jars and compiled drivers are kept."""
    return _root() / "apache-rocketmq"


def rocketmq_jars(version: str) -> Path:
    """Return the folder with the jars of that version, fetching them when absent."""
    target = cache_directory() / version
    pom = JAVA_DIRECTORY / "pom.xml"
    return _fetched(target, pom, f"-Drocketmq.version={version}")


def s3_jars() -> Path:
    """Return the folder with what Spark needs for S3, fetching it when absent.

    A change of the list makes a folder of its own.
    """
    digest = hashlib.sha256(S3_POM.read_bytes()).hexdigest()[:12]
    return _fetched(_root() / "s3-jars" / digest, S3_POM)


def _root() -> Path:
    var = os.environ.get("ROCKETSCOPE_VAR_DIR")
    return Path(var) if var else Path.home() / ".cache" / "rocketscope"


def _fetched(target: Path, pom: Path, *options: str) -> Path:
    stamp = target / ".complete"
    if stamp.exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            _fetch(target, pom, options)
            stamp.touch()
    return target


def _fetch(target: Path, pom: Path, options: Sequence[str]) -> None:
    done = subprocess.run(
        [
            "mvn",
            "-B",
            "-q",
            f"--file={pom}",
            "dependency:copy-dependencies",
            f"-DoutputDirectory={target}",
            "-DincludeScope=runtime",
            *options,
        ],
        capture_output=True,
        text=True,
        timeout=_FETCH_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"mvn could not fetch what {pom} lists: {done.stdout}")


def fetch_all() -> None:
    """Fetch the jars that any of the tests needs."""
    for version in (rocketmq_version(), OLDEST_VERSION):
        rocketmq_jars(version)
    s3_jars()


if __name__ == "__main__":
    fetch_all()
