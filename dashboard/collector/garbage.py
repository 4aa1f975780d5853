"""Looks for cyclic garbage between sweeps, when nobody waits for the collector.

With Python's defaults, a sweep makes it traverse hundreds of thousands of new objects
that take the place of others, and often everything that the collector holds. No thread
runs in the meantime, and there are hardly any cycles to find.

Searching everything that is kept for ten thousand groups takes two seconds. Objects
that survive such a search are therefore skipped by the next ones. Cycles among them are
found when everything is searched again: after the lead of a cluster was given up, and
every six hours.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Set
from time import thread_time
from typing import Final

AFTER: Final = (1_000_000, 10, 10)
"""Thresholds of Python's own searches, which are left for what grows without end."""
LONG_S: Final = 0.2
"""Objects that survive a search of more seconds are skipped afterwards."""
ALL_AFTER: Final = 36
"""After how many searches, one every ten minutes, everything is searched again."""


class GarbageSearch:
    """The searches of this process."""

    def __init__(self, clock: Callable[[], float] = thread_time) -> None:
        """`clock` counts seconds of processor time: a busy machine makes none long."""
        self._clock = clock
        self._held: Set[Hashable] = frozenset()
        """What was held when objects were last marked to be skipped."""
        self._skipping = 0
        """How many searches marked objects since everything was searched."""

    def begin(self) -> None:
        """Leave nearly all searches to this class."""
        gc.set_threshold(*AFTER)

    def search(self, held: Set[Hashable]) -> None:
        """Search now; `held` names the leads that this process has."""
        if self._skipping and (self._skipping >= ALL_AFTER or self._held - held):
            gc.unfreeze()
            self._skipping = 0
        began = self._clock()
        gc.collect()
        if self._skipping or self._clock() - began > LONG_S:
            gc.freeze()
            self._held = held
            self._skipping += 1
