from __future__ import annotations

from hypothesis import given

from dashboard.timeline.holdings import (
    Held,
    Lane,
    Moment,
    SeenEpoch,
)
from dashboard.timeline.lanes import (
    LEAST_WIDTH,
    MOST_STEPS,
    Window,
    bands,
    member_rows,
    place_slots,
    queue_label,
    queue_rows,
    ticks,
)

from .pasts import Past, pasts

WINDOW = Window(0, 100_000)
KEYS = [("orders", "a", number) for number in range(2)]


def m(after: int, by: int | None = None) -> Moment:
    return Moment(after, after if by is None else by)


def lane(
    *pieces: Held, key: int = 0, doubles: tuple[tuple[int, int], ...] = ()
) -> Lane:
    return Lane(KEYS[key], pieces, doubles, len(pieces) - 1, True)


def test_a_piece_is_its_certain_part_between_error_bars() -> None:
    (row,) = queue_rows(
        [lane(Held("A", m(10_000, 20_000), m(50_000, 70_000)))], WINDOW, {"A": 3}
    )
    assert [(mark.part, mark.x, mark.width) for mark in row.marks] == [
        ("maybe", 10.0, 10.0),
        ("sure", 20.0, 30.0),
        ("maybe", 50.0, 20.0),
    ]
    assert {mark.slot for mark in row.marks} == {3}


def test_what_is_never_certain_is_one_uncertain_mark() -> None:
    (row,) = queue_rows(
        [lane(Held("A", m(10_000, 30_000), m(20_000, 40_000)))], WINDOW, {}
    )
    assert [(mark.part, mark.x, mark.width) for mark in row.marks] == [
        ("maybe", 10.0, 30.0)
    ]


def test_a_short_gap_is_wide_enough_to_be_seen_and_doubles_are_framed() -> None:
    found = lane(Held("", m(10_000), m(10_020)), doubles=((40_000, 50_000),))
    (row,) = queue_rows([found], WINDOW, {})
    assert [(mark.part, mark.x, mark.width) for mark in row.marks] == [
        ("gap", 10.0, LEAST_WIDTH),
        ("double", 40.0, 10.0),
    ]


def test_what_reaches_out_of_the_window_is_cut() -> None:
    (row,) = queue_rows([lane(Held("A", m(-5000), None))], WINDOW, {"A": 0})
    assert [(mark.x, mark.width) for mark in row.marks] == [(0.0, 100.0)]


def epoch(
    number: int, members: str, began: Moment, ended: Moment | None = None
) -> SeenEpoch:
    return SeenEpoch(number, "x", began, ended, tuple(members), frozenset(KEYS))


def test_members_are_as_high_as_the_queues_they_hold() -> None:
    found = [
        lane(Held("A", m(0), m(50_000)), Held("B", m(50_000), None), key=0),
        lane(Held("A", m(0), None), key=1),
    ]
    epochs = [
        epoch(1, "A", m(0), m(40_000)),
        epoch(2, "AB", m(40_000)),
    ]
    a, b = member_rows(found, epochs, WINDOW, {"A": 0, "B": 1}, {"A": "alpha"})
    assert (a.label, b.label, a.moves, b.moves) == ("alpha", "B", 0, 1)
    counted = [(k.x, k.width, k.count, k.height) for k in a.marks if k.count]
    assert counted == [(0.0, 50.0, 2, 100.0), (50.0, 50.0, 1, 50.0)]
    present = next(mark for mark in b.marks if mark.count is None)
    assert (present.x, present.width) == (40.0, 60.0)


def test_connections_of_one_client_id_are_rows_of_their_own() -> None:
    held = [Held("X", m(0), None), Held("X", m(50_000), None, connection=1)]
    epochs = [epoch(1, "X", m(0), m(40_000)), epoch(2, "XX", m(40_000))]
    one, other = member_rows([lane(*held)], epochs, WINDOW, {"X": 4}, {"X": "ex"})
    assert [(row.label, row.slot, row.connection) for row in (one, other)] == [
        ("ex", 4, 0),
        ("ex", 4, 1),
    ]
    present = [next(k for k in row.marks if k.count is None) for row in (one, other)]
    assert [mark.x for mark in present] == [0.0, 40.0]
    assert (one.moves, other.moves) == (0, 1)


def test_what_is_held_on_after_a_time_unseen_is_not_taken_anew() -> None:
    unseen = m(20_000, 30_000)
    held = lane(Held("A", m(0), unseen), Held("A", unseen, None))
    (row,) = member_rows([held], [], WINDOW, {"A": 0}, {})
    assert row.moves == 0


def test_what_is_not_certain_is_not_counted() -> None:
    (row,) = member_rows([lane(Held("A", m(10_000, 40_000), None))], [], WINDOW, {}, {})
    assert [(mark.x, mark.width, mark.count) for mark in row.marks] == [(40.0, 60.0, 1)]


def test_what_nobody_knows_is_marked_as_that() -> None:
    found = Lane(KEYS[0], (), (), 0, False, unknown=((20_000, 40_000),))
    (row,) = queue_rows([found], WINDOW, {})
    assert [(mark.part, mark.x, mark.width) for mark in row.marks] == [
        ("unknown", 20.0, 20.0)
    ]
    (row,) = member_rows([found], [epoch(1, "A", m(0))], WINDOW, {"A": 0}, {})
    assert [mark.part for mark in row.marks] == ["maybe", "unknown"]


def test_what_nobody_saw_is_marked_for_members_without_lanes_too() -> None:
    stretch = (60_000, 100_000)
    epochs = [epoch(1, "A", m(0))]
    (row,) = member_rows([], epochs, WINDOW, {"A": 0}, {}, unseen=[stretch])
    assert [(mark.part, mark.x) for mark in row.marks] == [
        ("maybe", 0.0),
        ("unknown", 60.0),
    ]


@given(pasts())
def test_whatever_is_stored_is_drawn_within_the_picture(past: Past) -> None:
    found, epochs = past.lanes(), past.epochs
    window = Window(past.since, past.until)
    rows = queue_rows(found, window, {"A": 0})
    rows += member_rows(found, epochs, window, {"A": 0}, {})
    for mark in (mark for row in rows for mark in row.marks):
        assert mark.x >= 0
        assert mark.width > 0
        assert mark.x + mark.width <= 100.001
        assert 0 < mark.height <= 100
    for band in bands(epochs, window):
        assert 0 <= band.error <= band.x
        assert band.width >= 0
        assert band.x + band.width <= 100.001


def test_bands_have_their_error_before_them() -> None:
    found = bands(
        [
            epoch(1, "A", m(-9000), m(30_000, 40_000)),
            epoch(2, "AB", m(30_000, 40_000), m(42_000)),
            epoch(3, "A", m(42_000)),
        ],
        WINDOW,
    )
    assert [(band.x, band.width, band.error, band.labelled) for band in found] == [
        (0.0, 40.0, 0.0, True),
        (40.0, 2.0, 10.0, False),
        (42.0, 58.0, 0.0, True),
    ]


def test_ticks_are_round_and_few() -> None:
    found = ticks(Window(1_000_500, 1_900_500))
    assert all(tick.at % 60_000 == 0 for tick in found)
    assert 3 <= len(found) <= 7
    assert len(ticks(Window(0, 86_400_000))) <= 7


def test_past_members_get_the_least_used_hues() -> None:
    slots = place_slots({"A": 0, "B": 1}, ["X", "A", "Y", ""], places=3)
    assert slots == {"A": 0, "B": 1, "X": 2, "Y": 0}


def test_queues_are_named_with_their_topic_where_there_are_several() -> None:
    assert queue_label(KEYS[1], with_topic=False) == "a / 1"
    assert queue_label(KEYS[1], with_topic=True) == "orders · a / 1"


def test_steps_too_short_to_be_seen_are_joined() -> None:
    pieces = [Held("A", m(at), m(at + 5)) for at in range(0, 90_000, 10)]
    (row,) = member_rows([lane(*pieces)], [], WINDOW, {"A": 0}, {})
    assert 100 < len(row.marks) <= MOST_STEPS
    assert all(mark.width >= 100 / MOST_STEPS for mark in row.marks)
