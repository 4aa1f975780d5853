"""Numbers for updates: (run id, sequence) per cluster and group.

One collector leads a cluster at a time, and it alone numbers that cluster's updates.
A leader's run id is new each time it takes the lead, so a reader that meets another
run id knows that numbers started again and asks for the whole document. Within a run
the sequence of each stream grows by one, without gaps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True, slots=True)
class Stamp:
    """The number of one state of one stream."""

    run: str
    seq: int


@dataclass(slots=True)
class Numbering:
    """Hands out the stamps of one run; streams are told apart by cluster and group.

    The overview of a cluster is the stream whose group is empty.
    """

    run: str
    _last: dict[tuple[str, str], int] = field(default_factory=dict)

    def next(self, cluster: str, group: str = "") -> Stamp:
        """Return the next stamp of a stream; the first has sequence 1."""
        seq = self._last.get((cluster, group), 0) + 1
        self._last[cluster, group] = seq
        return Stamp(self.run, seq)

    def current(self, cluster: str, group: str = "") -> Stamp:
        """Return the newest stamp of a stream; sequence 0 before the first."""
        return Stamp(self.run, self._last.get((cluster, group), 0))

    def forget(self, cluster: str, group: str) -> None:
        """Drop a stream that no longer exists; should it return, it starts at 1.

        A page that still shows the old stream then meets a number that does not
        follow its own, and asks for the whole document.
        """
        self._last.pop((cluster, group), None)


def make_run_id(now_ms: int, chance: Random) -> str:
    """Return a run id that sorts by time and differs between two leaders."""
    return f"{now_ms:x}-{chance.getrandbits(32):08x}"
