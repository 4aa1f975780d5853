"""A group at rest is not judged anew, and shows what judging it anew would show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.collector.epochs import EpochBook, WantedStrategy
from dashboard.collector.group_document import Sight, group_document
from dashboard.collector.group_watch import GroupWatch, Look, Seen
from dashboard.collector.overview_document import overview_row, rested_row
from dashboard.collector.presence import Presence
from dashboard.collector.trend import LagTrend
from dashboard.live.documents import OverviewRow
from dashboard.live.numbering import Stamp
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot

from .sights import NOW, broker, group, keys, member, table

QUEUES = keys(4)
RETRY = keys(1, "%RETRY%g")


class Restless(GroupWatch):
    """Judges every look anew."""

    def _comes_to_rest(self, look: Look, sight: Sight) -> bool:
        return False


@dataclass
class World:
    """A group that changes by events, and the looks at it."""

    presence: Presence = field(default_factory=Presence)
    at_ms: int = NOW
    high: int = 1_000
    behind: list[Any] = field(default_factory=lambda: [0] * 4)
    retries: int = 0
    members: tuple[str, ...] = ("c1", "c2")
    away: bool = False
    asked: bool = False
    wish: WantedStrategy | None = None
    hosted: bool = False
    dead: int | None = 0
    group: GroupSnapshot = field(init=False)

    def __post_init__(self) -> None:
        self.group = self.made()

    def made(self) -> GroupSnapshot:
        holds = dict(zip(self.members, (QUEUES[:2], QUEUES[2:]), strict=False))
        done = [
            each if isinstance(each, Reason) else self.high - each
            for each in self.behind
        ]
        members = [
            member(name, holds.get(name, ()), topics=["orders"], strategy="AVG")
            if self.asked
            else member(name)
            for name in self.members
        ]
        expected = [self.members[row * len(self.members) // 4] for row in range(4)]
        made = group(
            table(QUEUES, high=[self.high] * 4, committed=done),
            members,
            expected=expected,
        )
        sent = [self.retries]
        return replace(made, retry=table(RETRY, high=sent, committed=sent))

    def happen(self, event: str) -> None:
        asked, before = self.asked, self.group
        self.asked = event == "asked"
        self.dead = None if event == "letters unknown" else self.dead
        if event == "moves":
            self.high += 500
        elif event == "lags":
            self.behind = [2_000, 0, 0, 5]
        elif event == "never committed":
            self.behind = [Reason.NOTHING_COMMITTED, 0, 0, 0]
        elif event == "consumes":
            self.behind = [0] * 4
        elif event == "retries":
            self.retries += 40
        elif event == "dead letters":
            self.dead = (self.dead or 0) + 1
        elif event == "joins":
            self.members = ("c1", "c2", "c3")
        elif event == "leaves":
            self.members = ("c1",)
        elif event == "shares an id":
            self.members = ("c1", "c1")
        elif event == "away":
            self.away = not self.away
        elif event == "wish":
            self.wish = None if self.wish else WantedStrategy("AVG", "{}")
        elif event == "hosted":
            self.hosted = not self.hosted
        made = self.made()
        self.group = before if asked == self.asked and made == before else made

    def look(self, apart_ms: int) -> Look:
        self.at_ms += apart_ms
        brokers = (broker(answered=not self.away),)
        snapshot = ClusterSnapshot(self.at_ms, brokers, {}, {})
        return Look(
            "east",
            self.group,
            self.presence.take(snapshot),
            self.at_ms,
            self.asked,
            hosted={"c1": None} if self.hosted else {},
            wish=self.wish,
            dead_letters=self.dead,
        )


class Reader:
    """Keeps the row of a group in the list, as a lead does."""

    def __init__(self, watch: GroupWatch) -> None:
        self.watch = watch
        self.trend = LagTrend()
        self.row: OverviewRow | None = None

    def read(self, look: Look) -> tuple[Seen, list[Any]]:
        seen = self.watch.see(look)
        if seen.sight is None:
            return seen, [None, seen.turn, seen.handovers, self.watch.dump()]
        if seen.rests and self.row is not None:
            self.row = rested_row(self.row, seen.sight, self.trend)
        else:
            self.row = overview_row(seen.sight, self.trend)
        document = group_document(seen.sight, Stamp("r", 1))
        told: list[Any] = [document, dict(self.row), seen.turn, seen.handovers]
        return seen, [*told, self.watch.dump()]


EVENTS = (
    *("moves", "lags", "never committed", "consumes", "retries", "dead letters"),
    *("letters unknown", "asked", "joins", "leaves", "shares an id", "away", "wish"),
    "hosted",
)
STEPS = st.lists(
    st.tuples(
        st.just("nothing") | st.sampled_from(EVENTS),
        st.integers(1, 6),
        st.sampled_from((1_000, 10_000, 10_000, 10_000, 45_000, 200_000)),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(STEPS)
def test_what_is_shown_and_left_is_the_same_as_judged_anew(
    steps: list[tuple[str, int, int]],
) -> None:
    world = World()
    quick, thorough = Reader(GroupWatch(EpochBook())), Reader(Restless(EpochBook()))
    for event, looks, apart_ms in steps:
        world.happen(event)
        for _ in range(looks):
            look = world.look(apart_ms)
            assert quick.read(look)[1] == thorough.read(look)[1]
            world.happen("nothing")


def at_rest() -> tuple[World, Reader]:
    world, reader = World(), Reader(GroupWatch(EpochBook()))
    for _ in range(3):
        seen, _told = reader.read(world.look(10_000))
    assert seen.rests
    return world, reader


def test_a_group_that_shows_the_same_comes_to_rest_at_the_third_look() -> None:
    world, reader = World(), Reader(GroupWatch(EpochBook()))
    looks = [reader.read(world.look(10_000))[0].rests for _ in range(4)]
    assert looks == [False, False, True, True]


@pytest.mark.parametrize("event", sorted({*EVENTS} - {"consumes"}))
def test_whatever_happens_ends_the_rest(event: str) -> None:
    world, reader = at_rest()
    world.happen(event)
    assert not reader.read(world.look(10_000))[0].rests


def test_a_pause_ends_the_rest() -> None:
    world, reader = at_rest()
    assert not reader.read(world.look(200_000))[0].rests
