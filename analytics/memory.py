"""Return to the system the memory that finished work has left with the allocators.

A merge of the lake's files takes some 800 MB for seconds. Arrow's pool and the C
library keep freed pages for the next piece of work, which here may be minutes away: the
worker would stay as large as its largest task.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from contextlib import suppress


def give_memory_back() -> None:
    """Return freed pages of Arrow's pool and of the C library to the system.

    Reference cycles are freed first. Takes some 0.1 s; does nothing for libraries that
    are not loaded.
    """
    gc.collect()
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    # C libraries other than GNU's have no such call.
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
