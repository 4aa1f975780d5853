"""Keep the log of a running process below a size, without the process's help.

A process has its log open for appending, and some cannot be told to open another. So
the log is copied to `NAME.log.1`, which it replaces, and then emptied: what is appended
later begins the file anew. A line that is written in the microseconds between the last
copy and the emptying is lost. A pipe through the supervisor would avoid that, but then
a supervisor that hangs would stop every process behind it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def earlier(log: Path) -> Path:
    """Return where the older part of a log is kept."""
    return log.with_suffix(".log.1")


def rotate(log: Path, most_bytes: int) -> bool:
    """Copy and empty a log that has more than `most_bytes`; return whether it had.

    Raises OSError when it cannot be copied; then nothing is lost.
    """
    if not log.exists() or log.stat().st_size <= most_bytes:
        return False
    draft = log.with_suffix(".log.new")
    with log.open("rb+") as source, draft.open("wb") as copy:
        while source.tell() < os.fstat(source.fileno()).st_size:
            shutil.copyfileobj(source, copy)
        copy.flush()
        source.truncate(0)
    draft.replace(earlier(log))
    return True
