"""Whatever may be stored of a group's past, in order or not, for tests with Hypothesis.

Owners and members are single letters: `AB` is owned twice, `XX` by two connections of
one client id, empty is nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from dashboard.timeline.holdings import (
    Lane,
    Moment,
    QueueKey,
    SeenEpoch,
    SeenEvent,
    in_order,
    lanes,
)

KEY = ("orders", "a", 0)
OTHER = ("orders", "a", 1)


@dataclass(frozen=True)
class Past:
    """Rows as they may be stored, epochs in order, and a window that ends by now."""

    events: Sequence[SeenEvent]
    epochs: Sequence[SeenEpoch]
    owners: Mapping[QueueKey, tuple[str, ...]]
    unseen: Sequence[Moment]
    since: int
    until: int
    now: int
    away: Mapping[str, int] = field(default_factory=dict)

    def lanes(self) -> list[Lane]:
        return lanes(
            self.events,
            self.epochs,
            self.owners,
            since=self.since,
            until=self.until,
            now=self.now,
            unseen=self.unseen,
            away=self.away,
        )


def event(before: str, after: str, at: Moment, key: Any = KEY) -> SeenEvent:
    return SeenEvent(key, "moved", at, tuple(before), tuple(after))


times = st.integers(0, 12_000)
moments = st.builds(Moment, times, times)
hands = st.text("ABX", max_size=3)
queues = st.frozensets(st.sampled_from([KEY, OTHER]))
seen_epochs = st.builds(
    SeenEpoch,
    st.integers(1, 6),
    st.just("x"),
    moments,
    st.none() | moments,
    hands.map(tuple),
    queues,
    st.booleans(),
)
seen_events = st.builds(event, hands, hands, moments, key=st.sampled_from([KEY, OTHER]))


windows = st.lists(times, min_size=3, max_size=3).map(sorted)


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    """Whatever there may be."""
    return Past(
        draw(st.lists(seen_events, max_size=6)),
        in_order(draw(st.lists(seen_epochs, max_size=5))),
        draw(st.dictionaries(st.sampled_from([KEY, OTHER]), hands.map(tuple))),
        draw(st.lists(moments, max_size=3)),
        *draw(windows.filter(lambda window: window[0] < window[1])),
        draw(st.dictionaries(st.sampled_from(["a", "b"]), times)),
    )
