"""Looks for cyclic garbage between sweeps, when nobody waits for the collector.

With Python's defaults, a sweep makes it traverse hundreds of thousands of new objects
that take the place of others, and often everything that the collector holds. No thread
runs in the meantime, and there are hardly any cycles to find.

Searching everything that ten thousand groups need takes two seconds. What is left after
such a search is therefore spared by the next ones. Cycles in it are found when
everything is searched again: after something large was given up, and every few hours.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Set
from time import thread_time
from typing import Final

AFTER: Final = (1_000_000, 10, 10)
"""Thresholds of Python's own searches, which are left for what grows without end."""
LONG_S: Final = 0.2
ALL_AFTER: Final = 36
"""After how many searches everything is searched again: six hours."""


class GarbageSearch:
    """Searches the objects of this process; one is enough."""

    def __init__(self, clock: Callable[[], float] = thread_time) -> None:
        """Processor time tells a large search from one on a busy machine."""
        self._clock = clock
        self._spared: Set[Hashable] = frozenset()
        """What was held when objects were spared."""
        self._searches = 0
        """Those that spared objects, since everything was searched."""

    def begin(self) -> None:
        """Leave nearly all searches to this class."""
        gc.set_threshold(*AFTER)

    def search(self, held: Set[Hashable]) -> None:
        """Search now; `held` are names of the large things that are held."""
        if self._searches and (self._searches >= ALL_AFTER or self._spared - held):
            gc.unfreeze()
            self._searches = 0
        began = self._clock()
        gc.collect()
        if self._searches or self._clock() - began > LONG_S:
            gc.freeze()
            self._spared = held
            self._searches += 1
