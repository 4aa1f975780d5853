"""What a move of offsets would do, worked out without a cluster."""

from __future__ import annotations

from dashboard.gateway.offsets import BrokerSide, Place, Standing
from dashboard.offsets.plan import Plan, plan_of
from dashboard.offsets.wanted import Wanted

NOBODY: frozenset[str] = frozenset()
SOMEBODY = frozenset({"10.0.0.1@7"})


def standing(
    *places: Place,
    members: frozenset[str] | None = NOBODY,
    keeps_resets: bool | None = True,
) -> Standing:
    names = {place.broker for place in places}
    sides = {
        name: BrokerSide(name, f"{name}:10911", members, keeps_resets)
        for name in sorted(names)
    }
    return Standing(places, sides)


def place(queue_id: int, low: int, high: int, committed: int | None) -> Place:
    return Place("a", queue_id, low, high, committed)


def plan(
    *places: Place, to: dict[str, int | str | None], query: str = "to=time&at=5"
) -> Plan:
    return plan_of(Wanted.from_query(f"{query}&topic=t"), standing(*places), to)


def test_going_back_is_seen_again_and_going_forward_is_skipped_for_ever() -> None:
    made = plan(place(0, 0, 100, 80), place(1, 0, 100, 20), to={"a/0": 50, "a/1": 60})
    assert [(row.place.key, row.again, row.skipped) for row in made.rows] == [
        ("a/1", 0, 40),
        ("a/0", 30, 0),
    ]
    assert (made.again, made.skipped) == (30, 40)
    assert (made.lag_before, made.lag_after) == (100, 90)


def test_messages_that_are_no_longer_kept_are_neither() -> None:
    made = plan(place(0, 50, 100, 10), to={"a/0": 20})
    (row,) = made.rows
    assert (row.after, row.again, row.skipped, row.note) == (50, 0, 0, "below")
    (row,) = plan(place(0, 50, 100, 60), to={"a/0": 500}).rows
    assert (row.after, row.skipped, row.note) == (100, 40, "above")


def test_order_is_skipped_clipped_unknown_then_by_queue() -> None:
    made = plan(
        place(0, 0, 100, 80),
        place(1, 40, 100, 80),
        place(2, 0, 100, 10),
        Place("a", 3, error="no answer"),
        to={"a/0": 50, "a/1": 40, "a/2": 50},
    )
    assert [row.place.queue_id for row in made.rows] == [2, 1, 3, 0]


def test_an_unknown_queue_is_left_as_it_is_and_not_counted() -> None:
    made = plan(
        place(0, 0, 9, 8), Place("a", 1, error="no answer"), to={"a/0": 2, "a/1": 2}
    )
    assert [row.place.key for row in made.moving] == ["a/0"]
    assert [row.note for row in made.unknown] == ["unanswered"]
    assert made.lag_partial


def test_where_the_source_was_silent_nothing_is_said_of_its_offsets() -> None:
    query = "to=group&from=other"
    made = plan(place(0, 0, 9, 8), to={"a/0": "no answer"}, query=query)
    assert [(row.note, row.detail) for row in made.unknown] == [
        ("source_unanswered", "no answer")
    ]


def test_a_queue_without_an_offset_so_far_is_moved_but_not_counted() -> None:
    made = plan(place(0, 0, 9, None), to={"a/0": 2})
    (row,) = made.rows
    assert (row.after, row.again, row.note) == (2, None, "starts")
    assert made.uncounted == 1


def test_brokers_of_4x_move_online_groups_by_time_only() -> None:
    old = standing(place(0, 0, 9, 5), members=SOMEBODY, keeps_resets=False)
    by_time = Wanted.from_query("to=earliest&topic=t")
    by_offset = Wanted.from_query("to=offset&topic=t&o.a/0=2")
    assert plan_of(by_time, old, {"a/0": 0}).rows[0].way == "told"
    assert plan_of(by_offset, old, {"a/0": 2}).rows[0].note == "only_by_time"
    offline = standing(place(0, 0, 9, 5), keeps_resets=False)
    assert plan_of(by_offset, offline, {"a/0": 2}).rows[0].way == "committed"


def test_nothing_moves_where_it_is_not_known_how() -> None:
    wanted = Wanted.from_query("to=earliest&topic=t")
    online = standing(place(0, 0, 9, 5), members=SOMEBODY, keeps_resets=None)
    assert plan_of(wanted, online, {"a/0": 0}).rows[0].note == "resets_unknown"
    silent = standing(place(0, 0, 9, 5), members=None, keeps_resets=False)
    assert plan_of(wanted, silent, {"a/0": 0}).rows[0].note == "members_unknown"


def test_the_token_follows_what_would_be_done() -> None:
    first = plan(place(0, 0, 9, 5), to={"a/0": 2})
    assert first.token == plan(place(0, 0, 9, 7), to={"a/0": 2}).token
    assert first.token != plan(place(0, 0, 9, 5), to={"a/0": 3}).token


def test_bars_share_a_scale_that_can_be_named() -> None:
    made = plan(
        place(0, 0, 130_000, 130_000), place(1, 0, 50, 40), to={"a/0": 0, "a/1": 0}
    )
    assert made.scale == 200_000
