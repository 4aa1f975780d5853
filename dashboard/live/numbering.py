"""Numbers for updates: (run id, sequence) per cluster and group.

One collector leads a cluster at a time, and it alone numbers that cluster's updates.
Within a run the sequence of each stream grows by one; a reader that meets a number
which does not follow its own, or another run id, asks for the whole document. A new
leader continues the run of the previous one and the numbers of the stored documents, so
that readers continue too; if nothing is stored it begins a run.

A stream that begins within a run, without a document that readers may have, begins
above every number of the run. So it never continues the numbers of an earlier stream of
the same name: a reader that still has one of those meets a gap, and asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

HANDED_ON: Final = 1_000_000
"""More numbers than a stream can use after a leader last recorded them."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The number of one state of one stream."""

    run: str
    seq: int


@dataclass(slots=True)
class Numbering:
    """Hands out the stamps of one run; streams are told apart by cluster and group.

    The overview of a cluster is the stream whose group is empty. `floor` is a number
    that no stream unknown to this object has reached.
    """

    run: str
    floor: int = 0
    _last: dict[tuple[str, str], int] = field(default_factory=dict)

    def next(self, cluster: str, group: str = "") -> Stamp:
        """Return the next stamp of a stream; the first of a new run has sequence 1."""
        seq = self._last.get((cluster, group), self.floor) + 1
        self._last[cluster, group] = seq
        return Stamp(self.run, seq)

    def current(self, cluster: str, group: str = "") -> Stamp:
        """Return the newest stamp of a stream; sequence 0 before the first."""
        return Stamp(self.run, self._last.get((cluster, group), 0))

    def resume(self, cluster: str, group: str, stored: Stamp) -> bool:
        """Continue after a stored document's stamp; False if it is of another run."""
        if stored.run != self.run:
            return False
        self._last[cluster, group] = stored.seq
        return True

    def forget(self, cluster: str, group: str) -> None:
        """Drop a stream that no longer exists.

        If it returns, a page that still shows the old stream meets a gap.
        """
        self.floor = max(self.floor, self._last.pop((cluster, group), 0) + 1)

    @property
    def highest(self) -> int:
        """A number above all that were handed out in this run."""
        return max(self.floor, *self._last.values(), 0) + 1


def make_run_id(now_ms: int, chance: Random) -> str:
    """Return a run id that sorts by time and differs between two leaders."""
    return f"{now_ms:x}-{chance.getrandbits(32):08x}"
