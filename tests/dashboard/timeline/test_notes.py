from __future__ import annotations

from dataclasses import replace

from dashboard.timeline.holdings import Moment, SeenEpoch, SeenEvent
from dashboard.timeline.lanes import Window
from dashboard.timeline.notes import Change, epoch_changes, epoch_of, notes

WINDOW = Window(0, 1_000_000)
ROOM = 1.5
"""A label of one that joined takes 30 per cent."""


def change(at: int) -> Change:
    return Change(at, "member_joined", ("c2",))


def epoch(number: int, cause: str, at: int) -> SeenEpoch:
    return SeenEpoch(
        number, cause, Moment(at - 900, at), None, ("c1",), frozenset(), divided=True
    )


def event(queue_id: int, at: int, kind: str = "moved", number: int = 2) -> SeenEvent:
    key = "orders", "a", queue_id
    return SeenEvent(key, kind, Moment(at - 900, at), ("c1",), ("c2",), number)


def test_labels_with_room_between_them_stand_alone() -> None:
    found = notes([change(100_000), change(500_000)], WINDOW, ROOM)
    assert [(note.x, note.at_end, len(note.changes)) for note in found] == [
        (10.0, False, 1),
        (50.0, False, 1),
    ]


def test_a_label_near_the_right_edge_ends_at_its_time() -> None:
    (note,) = notes([change(900_000)], WINDOW, ROOM)
    assert (note.x, note.at_end) == (90.0, True)


def test_labels_that_would_collide_become_one_that_knows_its_span() -> None:
    found = notes([change(at) for at in (140_000, 100_000, 120_000)], WINDOW, ROOM)
    assert len(found) == 1
    assert len(found[0].changes) == 3
    assert found[0].span_ms == 40_000
    assert found[0].since < 100_000
    assert found[0].until > 140_000


def test_labels_from_both_sides_merge_where_they_meet() -> None:
    # The right one would reach back over the left one's text.
    assert len(notes([change(600_000), change(850_000)], WINDOW, ROOM)) == 1
    assert len(notes([change(200_000), change(850_000)], WINDOW, ROOM)) == 2


def test_only_changes_within_the_window_have_labels() -> None:
    assert notes([change(0), change(1_000_001)], WINDOW, ROOM) == []


def test_moves_belong_to_the_change_before_them() -> None:
    epochs = [
        (epoch(1, "first_seen", 10_000), (), ()),
        (epoch(2, "strategy_changed", 100_000), (), ()),
        (epoch(3, "member_left", 400_000), (), ("c2",)),
    ]
    events = [
        *(event(number, 102_000) for number in range(8)),
        event(0, 104_000, "taken"),
        event(1, 104_000, "double"),
        event(2, 390_000),
        event(3, 401_000, "lost"),
    ]
    found = epoch_changes(epochs, events, 60_000)
    assert [(each.at, each.cause, each.moved) for each in found] == [
        (100_000, "strategy_changed", 8),
        (400_000, "member_left", 1),
    ]


def test_moves_that_were_not_seen_make_a_count_a_least_one() -> None:
    epochs = [
        (epoch(number, "member_joined", at), ("c2",), ())
        for number, at in enumerate((10_000, 200_000, 400_000))
    ]
    events = [event(0, at + 1_000) for at in (10_000, 200_000, 400_000)]

    def marked(**told: int) -> list[bool]:
        found = epoch_changes(epochs, events, 60_000, **told)
        assert [each.moved for each in found] == [1, 1, 1]
        return [each.at_least for each in found]

    assert marked() == [False, False, False]
    # Older events are cut, and a broker is away since 450 s.
    assert marked(told_from=11_000) == [True, False, False]
    assert marked(told_until=450_000) == [False, False, True]
    assert marked(told_until=460_000) == [False, False, False]


def test_an_event_belongs_to_the_newest_epoch_before_it() -> None:
    epochs = [
        epoch(number, "member_joined", at) for number, at in ((1, 900), (2, 9_000))
    ]
    assert epoch_of(event(0, 1_000), epochs, 500) == epochs[0]
    assert epoch_of(event(0, 9_000), epochs, 500) == epochs[1]
    assert epoch_of(event(0, 90_000), epochs, 500) is None
    assert epoch_of(replace(event(0, 0), at=Moment(-5, -1)), epochs, 500) is None
