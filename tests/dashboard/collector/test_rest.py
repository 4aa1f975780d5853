"""A group at rest is not judged anew, and shows what judging it anew would show."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.collector.epochs import EpochBook, WantedStrategy
from dashboard.collector.group_document import Sight, group_document
from dashboard.collector.group_watch import GroupWatch, Look, Seen
from dashboard.collector.inheritance import Inheritance, Inherited, encode_memory
from dashboard.collector.overview_document import (
    faded_row,
    overview_row,
    rested_row,
    still_row,
)
from dashboard.collector.presence import Presence
from dashboard.collector.samples import SampleColumns
from dashboard.collector.sleepers import Asleep, Sleepers
from dashboard.collector.trend import LagTrend
from dashboard.live.documents import OverviewRow
from dashboard.live.numbering import Stamp
from rmqcore.model.columns import Column, Reason
from rmqcore.model.snapshot import (
    ClusterSnapshot,
    GroupKind,
    GroupSnapshot,
    QueueTable,
    TopicKind,
    TopicSnapshot,
)
from rmqcore.model.topic import dead_letter_topic

from .sights import NOW, broker, group, keys, member, table

QUEUES = keys(4)
RETRY = keys(1, "%RETRY%g")


MEMBERS = {
    "joins": ("c1", "c2", "c3"),
    "leaves": ("c1",),
    "all leave": (),
    "shares an id": ("c1", "c1"),
}
BEHIND = {
    "creeps": (0, 7, 0, 0),
    "lags": (2_000, 0, 0, 5),
    "lags a little": (0, 40, 0, 1),
    "goes back": (0, 0, 250, 0),
    "never committed": (Reason.NOTHING_COMMITTED, 0, 0, 0),
    "consumes": (0, 0, 0, 0),
}
SENT = {"moves": 500, "creeps": 20, "goes back": 50}
"""How many messages come to each queue."""


class Restless(GroupWatch):
    """Judges every look anew."""

    def _comes_to_rest(self, look: Look, sight: Sight) -> bool:
        return False


def shared(before: GroupSnapshot, made: GroupSnapshot) -> GroupSnapshot:
    """The group with all that has not changed as the same objects, as sweeps do."""
    if made == before:
        return before
    if replace(made, queues=before.queues) != before:
        return made
    old, new = before.queues, made.queues
    if old.keys != new.keys:
        return made
    columns = {
        name: was if was == now else now
        for name in ("min", "max", "committed", "lag", "pulled", "lag_ms")
        for was, now in [(getattr(old, name), getattr(new, name))]
    }
    return replace(before, queues=QueueTable(old.keys, **columns))


@dataclass
class World:
    """A group that changes by events, and the looks at it."""

    presence: Presence = field(default_factory=Presence)
    at_ms: int = NOW
    low: int = 0
    high: int = 1_000
    behind: list[Any] = field(default_factory=lambda: [0] * 4)
    retries: int = 0
    members: tuple[str, ...] = ("c1", "c2")
    kind: GroupKind = GroupKind.OWNED
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
        count = len(self.members)
        made = group(
            replace(
                table(QUEUES, high=[self.high] * 4, committed=done),
                min=Column.of([self.low] * 4),
            ),
            members,
            expected=[self.members[row * count // 4] for row in range(4)]
            if count
            else None,
            kind=self.kind if count else GroupKind.OFFLINE,
        )
        sent = [self.retries]
        return replace(made, retry=table(RETRY, high=sent, committed=sent))

    def happen(self, event: str) -> None:
        asked, before = self.asked, self.group
        self.asked = event == "asked"
        self.dead = None if event == "letters unknown" else self.dead
        if event in MEMBERS:
            self.members = MEMBERS[event]
        elif event in BEHIND:
            self.behind = list(BEHIND[event])
        elif event == "deletes":
            self.low = self.high - 10
        elif event == "retries":
            self.retries += 40
        elif event == "dead letters":
            self.dead = (self.dead or 0) + 1
        elif event == "broadcasts":
            self.kind = GroupKind.BROADCASTING
        elif event == "wish":
            self.wish = None if self.wish else WantedStrategy("AVG", "{}")
        self.high += SENT.get(event, 0)
        self.away ^= event == "away"
        self.hosted ^= event == "hosted"
        made = self.made()
        self.group = shared(before, made) if asked == self.asked else made

    def look(self, apart_ms: int, shown: bool = True) -> Look:
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
            shown=shown,
        )


def snapshot_of(look: Look) -> ClusterSnapshot:
    """The sweep that a look is of."""
    letters = Reason.NO_ANSWER if look.dead_letters is None else look.dead_letters
    topic = TopicSnapshot(
        dead_letter_topic("g"),
        TopicKind.DEAD_LETTER,
        keys(1, dead_letter_topic("g")),
        Column.of([0]),
        Column.of([letters]),
        {},
    )
    brokers = tuple(each.snapshot for each in look.standing.brokers)
    return ClusterSnapshot(
        look.taken_at_ms, brokers, {topic.name: topic}, {"g": look.group}
    )


def inherited(watch: GroupWatch, at_ms: int) -> Inherited:
    """What the next leader takes over after a sweep."""
    packed = encode_memory("r", 1, at_ms, at_ms, {"g": watch.left(at_ms)})
    memory = orjson.loads(zlib.decompress(packed))
    return Inheritance(memory, []).take("g", QUEUES, at_ms)


class Reader:
    """Keeps the row of a group in the list, and takes samples, as a lead does."""

    def __init__(self, watch: GroupWatch) -> None:
        self.watch = watch
        self.trend = LagTrend()
        self.row: OverviewRow | None = None
        self.sleepers = Sleepers()

    def see(self, look: Look) -> Seen:
        """Look at the group, by itself only where it does not sleep."""
        if look.asked:
            self.sleepers.wake(["g"])
        else:
            wanted = {"g"} if look.shown or look.hosted or look.wish else set()
            self.sleepers.look(snapshot_of(look), look.standing, wanted)
        if "g" in self.sleepers:
            return Seen(self.watch.sight, rests=True, still=True)
        seen = self.watch.see(look)
        if seen.still and not look.shown:
            asleep = Asleep(self.watch, look.group, look.dead_letters)
            self.sleepers.add("g", asleep, self.watch.brokers)
        return seen

    def read(self, look: Look) -> tuple[Seen, list[Any]]:
        slept = "g" in self.sleepers
        seen, watch = self.see(look), self.watch
        sight = seen.sight
        told: list[Any] = [seen.turn, seen.handovers]
        if sight is not None:
            if not seen.rests or self.row is None:
                self.row = overview_row(sight, self.trend)
            elif slept and "g" in self.sleepers:
                self.row = still_row(self.row, self.trend, look.taken_at_ms)
            elif seen.fades:
                self.row = faded_row(self.row, sight, self.trend)
            else:
                self.row = rested_row(self.row, sight, self.trend)
            samples = SampleColumns()
            number = sight.epoch["number"] if sight.epoch else None
            quiet = self.sleepers.quiet(look.taken_at_ms)
            chosen = (
                []
                if "g" in quiet
                else watch.sampler.take(sight.group.queues, watch.seen_at_ms, number)
            )
            asleep = self.sleepers.get("g")
            if asleep is not None:
                asleep.quiet_ms = watch.sampler.quiet_ms
            samples.add(
                *("g", sight.group.queues, chosen),
                epoch=number,
                ownership=sight.ownership,
                span_epoch=watch.sampler.span_epoch,
            )
            told += [dict(self.row), samples.columns, sight.group, sight.rates]
            told += [sight.ownership, sight.findings, sight.rules]
            if look.shown:
                told.append(group_document(sight, Stamp("r", 1)))
        return seen, [*told, inherited(watch, look.taken_at_ms)]

    def tell_ages(self, at_ms: int) -> None:
        """Take what a broker told about the first queues that lag."""
        sight = self.watch.sight
        if sight is not None and self.watch.seen_at_ms <= at_ms:
            ages = dict.fromkeys(QUEUES[:2], 50_000)
            self.watch.ages.asked([("orders", "a")], at_ms)
            self.watch.ages.tell(sight.group.queues, ages, at_ms)


EVENTS = (
    *("moves", "lags", "never committed", "consumes", "retries", "dead letters"),
    *("letters unknown", "asked", "joins", "leaves", "shares an id", "away", "wish"),
    *("hosted", "goes back", "deletes", "all leave", "broadcasts"),
)
QUIET = ("creeps", "lags a little", "ages")
STEPS = st.lists(
    st.tuples(
        st.just("nothing") | st.sampled_from(QUIET) | st.sampled_from(EVENTS),
        st.integers(1, 6) | st.just(40),
        st.sampled_from(
            (1_000, 9_000, 10_000, 10_000, 10_000, 11_500, 45_000, 200_000, -30_000)
        ),
        st.booleans(),
    ),
    max_size=12,
)


@settings(deadline=None)
@given(STEPS)
def test_what_is_shown_and_left_is_the_same_as_judged_anew(
    steps: list[tuple[str, int, int, bool]],
) -> None:
    world = World()
    quick, thorough = Reader(GroupWatch(EpochBook())), Reader(Restless(EpochBook()))
    for event, looks, apart_ms, shown in [*steps, ("nothing", 1, 10_000, True)]:
        world.happen(event)
        if event == "ages":
            quick.tell_ages(world.at_ms)
            thorough.tell_ages(world.at_ms)
        for _ in range(looks):
            look = world.look(apart_ms, shown)
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


@pytest.mark.parametrize("event", sorted({*EVENTS} - {"consumes", "moves", "deletes"}))
def test_whatever_happens_ends_the_rest(event: str) -> None:
    world, reader = at_rest()
    world.happen(event)
    assert not reader.read(world.look(10_000))[0].rests


def test_a_pause_ends_the_rest() -> None:
    world, reader = at_rest()
    assert not reader.read(world.look(200_000))[0].rests


@pytest.mark.parametrize("event", ["creeps", "lags a little", "moves", "deletes"])
def test_offsets_that_move_a_little_leave_a_group_at_rest(event: str) -> None:
    world, reader = at_rest()
    world.happen(event)
    seen, _told = reader.read(world.look(10_000))
    assert seen.rests
    assert not seen.still


def test_looks_at_which_nothing_moves_are_caught_up_with() -> None:
    world, reader = at_rest()
    stills = [reader.read(world.look(10_000, shown=False))[0].still for _ in range(8)]
    assert stills == [True] * 8
    assert "g" in reader.sleepers
    left = inherited(reader.watch, world.at_ms).memory
    assert left["whole"]["at"] == left["findings"]["online"] == world.at_ms
    assert reader.watch.book.current is not None
    assert reader.watch.sight is not None
    assert reader.watch.sight.taken_at_ms == world.at_ms
