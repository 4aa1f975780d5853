"""Who held what when: ends as intervals, gaps, double ownership, what was missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given

from dashboard.timeline.holdings import (
    NOBODY,
    Held,
    Lane,
    Moment,
    SeenEpoch,
    SeenEvent,
    in_order,
    lanes,
)

from .pasts import (
    KEY,
    OTHER,
    Past,
    event,
    pasts,
)

ELSEWHERE = ("orders", "b", 0)
SINCE, NOW = 1000, 10_000


def m(after: int, by: int | None = None) -> Moment:
    return Moment(after, after if by is None else by)


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
    unseen: Sequence[Moment] = (),
) -> Lane:
    owners = {} if now is None else {KEY: tuple(now)}
    window = {"since": SINCE, "until": until, "now": NOW}
    (found,) = lanes(events, epochs, owners, unseen=unseen, **window)
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


def test_a_queue_of_a_dead_member_is_unknown_until_somebody_reports_it() -> None:
    epochs = [epoch(1, "AB", m(0), m(4000, 4100)), epoch(2, "B", m(4000, 4100))]
    found = lane([event("A", "B", m(6000, 6500))], epochs, "B")
    assert [(p.owner, p.certain) for p in found.pieces] == [
        ("A", (SINCE, 4000)),
        ("B", (6500, None)),
    ]
    assert found.unknown == ((4100, 6000),)


def test_a_loss_that_members_reported_is_a_gap() -> None:
    epochs = [epoch(1, "AB", m(0), m(4000, 4100)), epoch(2, "B", m(4000, 4100))]
    found = lane([event("A", "", m(3900, 4200))], epochs, "")
    assert found.pieces == (
        Held("A", m(SINCE), m(3900, 4100)),
        Held(NOBODY, m(3900, 4200), None),
    )
    assert found.unknown == ()


def test_a_member_that_was_away_leaves_no_gap_where_another_may_have_held() -> None:
    epochs = [
        epoch(1, "AB", m(0), m(3000)),
        epoch(2, "B", m(3000), m(6000)),
        epoch(3, "AB", m(6000)),
    ]
    found = lane([], epochs, "A")
    assert [(p.owner, p.certain) for p in found.pieces] == [
        ("A", (SINCE, 3000)),
        ("A", (6000, None)),
    ]
    assert found.unknown == ((3000, 6000),)


def test_who_owned_a_queue_before_its_owner_came_is_unknown() -> None:
    epochs = [epoch(1, "B", m(0), m(4000, 4100)), epoch(2, "AB", m(4000, 4100))]
    found = lane([], epochs, "A")
    assert found.pieces == (Held("A", m(4000, 4100), None),)
    assert found.unknown == ((SINCE, 4000),)


def test_an_owner_who_is_no_member_is_not_believed() -> None:
    found = lane([event("A", "X", m(3000, 3100))], [epoch(1, "AB", m(0))], "X")
    assert found.pieces == (Held("A", m(SINCE), m(3000, 3100)),)
    assert found.unknown == ((3100, NOW),)


def test_two_owners_are_double_where_both_are_certain() -> None:
    events = [event("A", "AB", m(3000, 3500)), event("AB", "B", m(6000, 6500))]
    found = lane(events, [epoch(1, "AB", m(0))], "B")
    assert found.doubles == ((3500, 6000),)
    assert [(p.owner, p.begin, p.end) for p in found.pieces] == [
        ("A", m(SINCE), m(6000, 6500)),
        ("B", m(3000, 3500), None),
    ]


def test_two_connections_of_one_client_id_own_a_queue_twice() -> None:
    epochs = [epoch(1, "X", m(0), m(2000)), epoch(2, "XXY", m(2000))]
    events = [event("X", "XX", m(3000, 3500)), event("XX", "X", m(6000, 6500))]
    found = lane(events, epochs, "X")
    assert [(p.hand, p.begin, p.end) for p in found.pieces] == [
        (("X", 0), m(SINCE), None),
        (("X", 1), m(3000, 3500), m(6000, 6500)),
    ]
    assert found.doubles == ((3500, 6000),)
    assert found.moves == 2


def test_an_owner_named_twice_from_the_beginning() -> None:
    found = lane([], [epoch(1, "XX", m(0))], "XX")
    assert [piece.hand for piece in found.pieces] == [("X", 0), ("X", 1)]
    assert found.doubles == ((SINCE, NOW),)


def test_three_hands_are_one_double_not_two() -> None:
    events = [event("A", "AB", m(2000)), event("AB", "ABC", m(3000))]
    found = lane(events, [epoch(1, "ABC", m(0))], "ABC")
    assert found.doubles == ((2000, NOW),)


def test_what_is_double_after_the_window_is_not_counted_in_it() -> None:
    found = lane([event("A", "AB", m(7000))], [epoch(1, "AB", m(0))], "AB", until=5000)
    assert found.doubles == ()


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
    assert found.unknown == ((SINCE, NOW),)


def test_without_members_a_queue_is_nobodys_even_unreported() -> None:
    epochs = [epoch(1, "A", m(0), m(3000, 3100)), epoch(2, "", m(3000, 3100))]
    found = lane([], epochs)
    assert found.pieces == (Held(NOBODY, m(3000, 3100), None),)
    assert not found.known
    assert found.unknown == ((SINCE, 3000),)


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


def test_a_time_in_which_nothing_was_seen_is_nobodys_word() -> None:
    found = lane([], [epoch(1, "A", m(0))], "A", unseen=[m(4000, 6000)])
    assert found.pieces == (
        Held("A", m(SINCE), m(4000, 6000)),
        Held("A", m(4000, 6000), None),
    )
    assert [piece.certain for piece in found.pieces] == [(SINCE, 4000), (6000, None)]
    assert found.unknown == ((4000, 6000),)


def test_since_the_last_look_nothing_is_certain() -> None:
    found = lane([], [epoch(1, "A", m(0))], "A", unseen=[m(8000, NOW)])
    assert found.pieces == (Held("A", m(SINCE), m(8000, NOW)),)
    assert found.unknown == ((8000, NOW),)


def test_of_queues_on_a_broker_that_is_away_nothing_is_certain_since() -> None:
    queues = frozenset({KEY, OTHER, ELSEWHERE})
    moved = [event("B", "A", m(2000), key=key) for key in queues]
    gone, told, there = lanes(
        moved,
        [epoch(1, "AB", m(0), queues=queues)],
        {OTHER: ("A",)},
        since=SINCE,
        until=NOW,
        now=NOW,
        away={"a": 6000},
    )
    assert gone.pieces[-1] == Held("A", m(2000), m(6000, NOW))
    assert gone.unknown == ((6000, NOW),)
    # A member reports the one, the other is on a broker that answers.
    for lane in (told, there):
        assert lane.pieces[-1] == Held("A", m(2000), None)
        assert lane.unknown == ()


def test_an_epoch_that_is_missing_is_unknown() -> None:
    epochs = [epoch(1, "A", m(0), m(3000)), epoch(3, "A", m(6000))]
    found = lane([], epochs, "A")
    assert [piece.certain for piece in found.pieces] == [(SINCE, 3000), (6000, None)]
    assert found.unknown == ((3000, 6000),)


def test_epochs_are_put_in_order_and_end_where_the_next_began() -> None:
    found = in_order([epoch(2, "B", m(4000, 5000)), epoch(1, "A", m(900, 800), None)])
    assert found == [
        epoch(1, "A", m(800), m(800, 5000)),
        epoch(2, "B", m(4000, 5000)),
    ]


@given(pasts())
def test_pieces_stay_in_order_and_in_the_window(past: Past) -> None:
    since, until, found = past.since, past.until, past.lanes()
    for piece in (piece for lane in found for piece in lane.pieces):
        assert piece.begin.after <= piece.begin.by
        assert piece.begin.after < until
        if piece.end is not None:
            assert piece.end.after <= piece.end.by
            assert piece.begin.after <= piece.end.after
            assert piece.begin.by <= piece.end.by
            assert piece.end.by > since
    for begin, end in (x for lane in found for x in (*lane.doubles, *lane.unknown)):
        assert since <= begin < end <= min(until, past.now)


@given(pasts())
def test_hands_overlap_with_certainty_only_where_it_is_double(past: Past) -> None:
    for lane in past.lanes():
        sure = [
            (piece.hand, within)
            for piece in lane.pieces
            if (within := piece.certain_within(past.since, past.until))
        ]
        for at in instants(lane, past):
            holding = [hand for hand, (a, b) in sure if a <= at < b]
            assert len(holding) == len(set(holding)), (at, lane)
            assert (NOBODY, 0) not in holding or len(holding) == 1, (at, lane)
            assert (len(holding) > 1) == covers(lane.doubles, at), (at, lane)
            assert not (holding and covers(lane.unknown, at)), (at, lane)


@given(pasts())
def test_each_instant_of_a_queue_is_a_piece_or_unknown(past: Past) -> None:
    for lane in past.lanes():
        for at in instants(lane, past):
            listed = not past.epochs or any(
                epoch.has(lane.key)
                and epoch.began.by <= at
                and (epoch.ended is None or at < epoch.ended.after)
                for epoch in past.epochs
            )
            told = any(
                piece.begin.after <= at and (piece.end is None or at < piece.end.by)
                for piece in lane.pieces
            )
            assert not listed or told or covers(lane.unknown, at), (at, lane)


def instants(found: Lane, past: Past) -> list[int]:
    """Every time of the window at which anything may change, and the one before."""
    ends = [(piece.begin, piece.end) for piece in found.pieces]
    ends += [(epoch.began, epoch.ended) for epoch in past.epochs]
    times = {x for pair in ends for m in pair if m for x in (m.after, m.by)}
    times |= {x for pair in (*found.doubles, *found.unknown) for x in pair}
    times |= {past.since, *(time - 1 for time in times)}
    return sorted(time for time in times if past.since <= time < past.until)


def covers(stretches: Any, at: int) -> bool:
    return any(begin <= at < end for begin, end in stretches)
