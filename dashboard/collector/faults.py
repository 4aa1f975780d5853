"""The groups that this program failed to judge: logged once, and counted."""

from __future__ import annotations

import logging

logger = logging.getLogger(__name__)


class Faults:
    """The groups of one cluster that could not be judged when last looked at."""

    def __init__(self, cluster: str) -> None:
        self.count = 0
        """How many looks at groups have ever failed."""
        self._cluster = cluster
        self._failing: set[str] = set()

    def __len__(self) -> int:
        return len(self._failing)

    def note(self, group: str, error: Exception) -> str:
        """Note that a look at a group failed; return what to say about it.

        It is logged when a group begins to fail.
        """
        self.count += 1
        if group not in self._failing:
            self._failing.add(group)
            logger.error(
                "cluster=%s group=%r cannot be judged",
                self._cluster,
                group,
                exc_info=error,
            )
        return f"{type(error).__name__}: {error}"

    def forget(self, group: str) -> None:
        """Note that a group could be judged, or that it is gone."""
        self._failing.discard(group)
