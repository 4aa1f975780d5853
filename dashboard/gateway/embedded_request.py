"""The file by which the embedded cluster is asked for while everything runs.

`./rocketscope up` names a file to the processes that it starts
(ROCKETSCOPE_EMBEDDED_REQUEST) and looks for it. A page creates it, empty; if the
cluster cannot be started, the reason is written into it. The file stays, so that the
next start has the embedded cluster again. It is a file, not a key in Redis, because
only processes on the same machine can use a cluster that listens on loopback alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAME: Final = "embedded.wanted"
"""The file's name in the var directory."""


def ask(path: Path) -> None:
    """Ask for the embedded cluster, again if it could not be started before."""
    path.write_text("", encoding="utf-8")


def is_asked(path: Path) -> bool:
    """Tell whether somebody asks who has not yet been told that it is impossible."""
    return why_not(path) == ""


def say_why_not(path: Path, why: str) -> None:
    """Tell whoever asks that the cluster cannot be started."""
    path.write_text(why, encoding="utf-8")


def why_not(path: Path) -> str | None:
    """Return why it could not be started; "" if it may yet be, None if nobody asks."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
