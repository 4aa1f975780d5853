"""Set aside landing files that are not valid Parquet, so that streams get past them.

Nothing here writes such a file: files become visible only when complete. A disk that
lost power or was repaired, or an interrupted copy, may still leave one, and a stream
would fail on it again and again. The files are kept below `damaged/` for inspection,
and the log names them.
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
    """Move the files among `paths` that cannot be read; return their paths."""
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
