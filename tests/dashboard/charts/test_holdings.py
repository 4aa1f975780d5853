"""Who held what when: ends as intervals, gaps, double ownership, what was missed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dashboard.charts.holdings import (
    NOBODY,
    Held,
    Lane,
    Moment,
    SeenEpoch,
    SeenEvent,
    lanes,
)

KEY = ("orders", "a", 0)
OTHER = ("orders", "a", 1)
SINCE, NOW = 1000, 10_000


def m(after: int, by: int | None = None) -> Moment:
    return Moment(after, after if by is None else by)


def event(before: str, after: str, at: Moment, key: Any = KEY) -> SeenEvent:
    """Owners are single letters: `AB` is owned twice, empty is nobody's."""
    return SeenEvent(key, "moved", at, tuple(before), tuple(after))


def epoch(
    number: int, members: str, began: Moment, ended: Moment | None = None, **more: Any
) -> SeenEpoch:
    queues = more.get("queues", frozenset({KEY}))
    return SeenEpoch(number, "x", began, ended, tuple(members), queues)


def lane(
    events: list[SeenEvent],
    epochs: list[SeenEpoch],
    now: str | None = None,
    until: int = NOW,
) -> Lane:
    owners = {} if now is None else {KEY: tuple(now)}
    (found,) = lanes(events, epochs, owners, since=SINCE, until=until, now=NOW)
    return found


def test_without_a_change_the_present_owner_held_it_all_the_time() -> None:
    found = lane([], [epoch(1, "A", m(0, 10))], "A")
    assert found.pieces == (Held("A", m(SINCE), None),)
    assert found.known
    assert found.moves == 0


def test_a_move_ends_one_and_begins_the_other_as_intervals() -> None:
    found = lane([event("A", "B", m(4000, 5000))], [epoch(1, "AB", m(0))], "B")
    assert found.pieces == (
        Held("A", m(SINCE), m(4000, 5000)),
        Held("B", m(4000, 5000), None),
    )
    assert found.pieces[0].certain == (SINCE, 4000)
    assert found.moves == 1


def test_a_join_and_a_leave_make_ends_more_exact() -> None:
    epochs = [
        epoch(1, "A", m(0), m(4300, 4400)),
        epoch(2, "AB", m(4300, 4400), m(7000, 7100)),
        epoch(3, "A", m(7000, 7100)),
    ]
    events = [event("A", "B", m(4000, 5000)), event("B", "A", m(6900, 8000))]
    found = lane(events, epochs, "A")
    assert [(p.owner, p.begin, p.end) for p in found.pieces] == [
        ("A", m(SINCE), m(4000, 5000)),
        ("B", m(4300, 5000), m(6900, 7100)),
        ("A", m(6900, 8000), None),
    ]


def test_a_queue_of_a_dead_member_is_nobodys_until_it_is_taken() -> None:
    epochs = [epoch(1, "AB", m(0), m(4000, 4100)), epoch(2, "B", m(4000, 4100))]
    found = lane([event("A", "B", m(6000, 6500))], epochs, "B")
    assert [(p.owner, p.certain) for p in found.pieces] == [
        ("A", (SINCE, 4000)),
        (NOBODY, (4100, 6000)),
        ("B", (6500, None)),
    ]


def test_a_loss_that_was_seen_begins_where_its_owner_left() -> None:
    epochs = [epoch(1, "AB", m(0), m(4000, 4100)), epoch(2, "B", m(4000, 4100))]
    found = lane([event("A", "", m(4500, 6500))], epochs, "")
    assert found.pieces == (
        Held("A", m(SINCE), m(4000, 4100)),
        Held(NOBODY, m(4000, 4100), None),
    )


def test_two_owners_are_double_where_both_are_certain() -> None:
    events = [event("A", "AB", m(3000, 3500)), event("AB", "B", m(6000, 6500))]
    found = lane(events, [epoch(1, "AB", m(0))], "B")
    assert found.doubles == ((3500, 6000),)
    assert [(p.owner, p.begin, p.end) for p in found.pieces] == [
        ("A", m(SINCE), m(6000, 6500)),
        ("B", m(3000, 3500), None),
    ]


def test_a_change_that_was_missed_is_uncertain_all_the_time_between() -> None:
    events = [event("A", "B", m(2000, 2500)), event("C", "A", m(7000, 7500))]
    found = lane(events, [epoch(1, "ABC", m(0))], "A")
    assert found.pieces[1:3] == (
        Held("B", m(2000, 2500), m(2500, 7000)),
        Held("C", m(2500, 7000), m(7000, 7500)),
    )


def test_a_change_missed_after_the_last_event_is_uncertain_until_now() -> None:
    found = lane([event("A", "B", m(2000, 2500))], [epoch(1, "ABC", m(0))], "C")
    assert found.pieces[1:] == (
        Held("B", m(2000, 2500), m(2500, NOW)),
        Held("C", m(2500, NOW), None),
    )


def test_a_group_that_was_offline_has_a_gap_over_that_time() -> None:
    epochs = [
        epoch(1, "A", m(0), m(3000, 3100)),
        epoch(2, "", m(3000, 3100), m(5000, 5100)),
        epoch(3, "A", m(5000, 5100)),
    ]
    found = lane([], epochs, "A")
    assert [(p.owner, p.certain) for p in found.pieces] == [
        ("A", (SINCE, 3000)),
        (NOBODY, (3100, 5000)),
        ("A", (5100, None)),
    ]


def test_what_nobody_reported_is_unknown_not_a_gap() -> None:
    found = lane([], [epoch(1, "A", m(0))])
    assert (found.pieces, found.known) == ((), False)


def test_without_members_a_queue_is_nobodys_even_unreported() -> None:
    epochs = [epoch(1, "A", m(0), m(3000, 3100)), epoch(2, "", m(3000, 3100))]
    found = lane([], epochs)
    assert found.pieces == (Held(NOBODY, m(3000, 3100), None),)
    assert not found.known


def test_a_queue_is_there_in_the_epochs_that_list_it() -> None:
    both = frozenset({KEY, OTHER})
    epochs = [
        epoch(1, "A", m(0), m(4000, 4100)),
        epoch(2, "A", m(4000, 4100), queues=both),
    ]
    owners = {KEY: ("A",), OTHER: ("A",)}
    found = lanes([], epochs, owners, since=SINCE, until=NOW, now=NOW)
    assert found[0].pieces[0].begin == m(SINCE)
    assert found[1].pieces == (Held("A", m(4000, 4100), None),)


def test_a_deleted_group_ends_and_one_made_anew_begins_apart() -> None:
    epochs = [epoch(1, "A", m(0), m(3000, 3500)), epoch(2, "A", m(6000, 6000))]
    found = lane([], epochs, "A")
    assert found.pieces == (
        Held("A", m(SINCE), m(3000, 3500)),
        Held("A", m(6000), None),
    )


def test_only_what_lies_in_the_window_is_returned() -> None:
    events = [event("A", "B", m(2000, 2500)), event("B", "A", m(7000, 7500))]
    found = lane(events, [epoch(1, "AB", m(0))], "A", until=5000)
    assert [piece.owner for piece in found.pieces] == ["A", "B"]
    assert found.moves == 1


def test_nothing_known_gives_no_lane() -> None:
    assert lanes([], [], {}, since=SINCE, until=NOW, now=NOW) == []


owners_ = st.sampled_from(["", "A", "B", "AB"])
times = st.lists(
    st.tuples(st.integers(SINCE, NOW), st.integers(0, 2000)), min_size=1, max_size=6
)


@given(times, st.lists(owners_, min_size=8, max_size=8), owners_)
def test_pieces_are_ordered_and_nothing_is_claimed_twice(
    starts: list[tuple[int, int]], owners: list[str], last: str
) -> None:
    events, time = [], SINCE
    for place, (start, error) in enumerate(sorted(starts)):
        after = max(time, start)
        events.append(event(owners[place], owners[place + 1], m(after, after + error)))
        time = after + error
    now = max(NOW, time)
    (found,) = lanes(
        events,
        [epoch(1, "AB", m(0))],
        {KEY: tuple(last)},
        since=SINCE,
        until=now + 1,
        now=now,
    )
    for piece in found.pieces:
        assert piece.begin.after <= piece.begin.by
        if piece.end is not None:
            assert piece.end.after <= piece.end.by
            assert piece.begin.after <= piece.end.by
    sure = [p for p in found.pieces if p.certain is not None]
    for one in sure:
        for other in sure:
            if one is other or NOBODY not in (one.owner, other.owner):
                continue
            assert not overlap(one.certain, other.certain), (one, other)


def overlap(one: Any, other: Any) -> bool:
    end, other_end = (x[1] if x[1] is not None else 10**9 for x in (one, other))
    return max(one[0], other[0]) < min(end, other_end)
