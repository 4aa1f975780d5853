"""Landing files that are no Parquet files: put aside, so that streams get past them.

Nothing here writes such a file: one is seen only when it is complete. A disk that lost
power or was repaired, or a copy that was broken off, may still leave one, and a stream
would fail on it again and again. The bytes are kept below `damaged/`, for anybody
who wants to look at them, and the log names them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from analytics.errors import LakeError

from .reader import read_entry
from .storage import Storage

logger = logging.getLogger(__name__)

DAMAGED: Final = "damaged"


def put_aside(storage: Storage, paths: Iterable[str]) -> list[str]:
    """Move the files among `paths` that cannot be read; return which they were."""
    found = []
    for path in sorted(paths):
        try:
            read_entry(storage, path, size=0)
        except FileNotFoundError:  # retention was faster
            continue
        except LakeError as error:
            logger.warning("put aside, with the samples in it: %s", error)
            storage.write_new(f"{DAMAGED}/{path}", storage.read(path))
            storage.delete(path)
            found.append(path)
    return found
