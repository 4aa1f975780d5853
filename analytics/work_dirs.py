"""A folder for the work files of each process, so that none stays after a kill.

Spark removes its shuffle files when it ends, but not when it is killed. Each process
works in a folder of its own and keeps a lock on it; the next one to start removes the
folders whose lock nobody holds. The kernel releases a lock however a process ends,
and unlike a process id a lock also means something to processes of other containers.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

_PREFIX: Final = "run-"
_held: Final[dict[Path, tuple[Path, int]]] = {}
"""This process's folder and its open lock, by the folder around it."""


def own_work_dir(parent: Path) -> Path:
    """Return this process's folder in `parent`, after removing those left behind."""
    if parent in _held:
        return _held[parent][0]
    parent.mkdir(parents=True, exist_ok=True)
    with _alone(parent):
        for folder in sorted(parent.glob(f"{_PREFIX}*")):
            _remove_if_left(folder)
        own = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = os.open(own / "lock", os.O_WRONLY | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _held[parent] = own, lock
    return own


@contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """Nobody removes a folder whose lock its owner has not taken yet."""
    with (parent / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remove_if_left(folder: Path) -> None:
    try:
        with (folder / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
    except BlockingIOError:
        return
    except OSError as error:
        logger.warning("%s not removed: %s", folder, error)
    else:
        logger.info("%s removed: its process has ended", folder)
