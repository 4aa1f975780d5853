from __future__ import annotations

import pytest

from dashboard.whatif.model import (
    Comparison,
    Scenario,
    compare,
    read_situation,
)
from dashboard.whatif.reads import (
    BALANCED,
    ShownRow,
    chosen_row,
    read_scenario,
    shown_moves,
    shown_rows,
    worst_balance,
)
from rmqcore.errors import ArgumentError
from tests.dashboard.documents import (
    BROKERS,
    group_state,
    member,
    queue,
)
from tests.dashboard.documents import waiting_for_locks as lab


@pytest.fixture
def comparison() -> Comparison:
    return compare(read_situation(lab()), Scenario())


def rows_of(comparison: Comparison) -> dict[str, ShownRow]:
    return {row.key: row for row in shown_rows(comparison, "AVG")}


def test_now_and_every_strategy_have_a_row(comparison: Comparison) -> None:
    rows = shown_rows(comparison, "AVG")
    assert rows[0].is_now
    assert rows[-1].is_balanced
    assert {row.key for row in rows[1:-1]} == {
        "AVG",
        "AVG_BY_CIRCLE",
        "CONFIG",
        "MACHINE_ROOM",
        "MACHINE_ROOM_NEARBY",
        "CONSISTENT_HASH",
    }
    assert [row.key for row in rows if row.chosen] == ["AVG"]


def test_the_waiting_queues_are_the_ones_that_avg_would_give(
    comparison: Comparison,
) -> None:
    avg = rows_of(comparison)["AVG"]
    assert avg.changes == 4
    assert avg.shares == "6/5/5"
    moves = shown_moves(avg)
    assert [(move.broker, move.queue_id) for move in moves] == [
        ("hz2@broker-b", queue_id) for queue_id in (4, 5, 6, 7)
    ]
    assert {move.before for move in moves} == {()}


def test_a_strategy_without_its_options_has_a_reason_and_no_numbers(
    comparison: Comparison,
) -> None:
    config = rows_of(comparison)["CONFIG"]
    assert config.reason is not None
    assert config.reason.code == "needs_options"
    assert (config.changes, config.drain_ms, config.shares) == (None, None, "")
    assert shown_moves(config) == []


def test_the_best_of_a_column_is_marked_but_never_now(comparison: Comparison) -> None:
    rows = rows_of(comparison)
    assert "changes" in rows["AVG"].best
    assert "balance" in rows[BALANCED].best
    assert not rows["NOW"].best
    balances = [r.figures.by_load.max_over_mean for r in rows.values() if r.figures]
    assert worst_balance(list(rows.values())) == max(filter(None, balances))


def test_what_is_no_better_than_now_gets_no_star() -> None:
    """AVG is in use and moves nothing; only the balanced plan does something."""
    ids = [member(number)["client_id"] for number in range(2)]
    rates = (300.0, 200.0, 100.0, 100.0)
    held = [
        queue(BROKERS[0], number, owners=[ids[number // 2]], rate_in=rate, lag=0)
        for number, rate in enumerate(rates)
    ]
    situation = read_situation(group_state([member(0), member(1)], held))
    rows = rows_of(compare(situation, Scenario(member_rate=1_000.0)))
    assert rows["AVG"].changes == 0
    assert not rows["AVG"].best
    assert {"changes", "balance"} <= rows[BALANCED].best
    rows = rows_of(compare(situation, Scenario(remove=(ids[0],), add=("c", "d"))))
    assert any("changes" in row.best for row in rows.values())


def test_where_all_are_alike_none_is_best() -> None:
    one = group_state([member(0)], [queue(BROKERS[0], 0, owners=[])])
    rows = rows_of(compare(read_situation(one), Scenario()))
    assert not any(row.best & {"balance", "gini"} for row in rows.values())


@pytest.mark.parametrize(
    ("show", "key"),
    [
        ("", "AVG"),
        ("AVG_BY_CIRCLE", "AVG_BY_CIRCLE"),
        (BALANCED, BALANCED),
        ("CONFIG", "AVG"),
        ("nonsense", "AVG"),
    ],
)
def test_the_row_shown_is_the_one_asked_for_or_the_groups_own(
    comparison: Comparison, show: str, key: str
) -> None:
    assert chosen_row(comparison, show) == key


def test_the_forms_empty_fields_are_not_given() -> None:
    scenario, show = read_scenario("v=1&s=AVG&a=&o=&n=&x=&k=")
    assert scenario == Scenario(strategy="AVG")
    assert show == "AVG"
    assert read_scenario("v=1") == (Scenario(), "")


def test_the_balanced_plan_is_asked_for_beside_the_scenario() -> None:
    scenario, show = read_scenario("v=1&n=20&show=BALANCED")
    assert scenario == Scenario(virtual_nodes=20)
    assert show == BALANCED


@pytest.mark.parametrize("query", ["v=1&n=many", "v=9&s=AVG", "v=1&z=1", "s=NONE&v=1"])
def test_what_cannot_be_read_is_refused(query: str) -> None:
    with pytest.raises(ArgumentError):
        read_scenario(query)


def test_a_drain_of_many_years_counts_as_never() -> None:
    """Rates that only differ by how fractions are kept make such spans."""
    held = queue(BROKERS[0], 0, owners=[member(0)["client_id"]], lag=500)
    held["rate_in"] = 3.7
    state = group_state([member(0)], [held])
    scenario = Scenario(member_rate=3.7 + 1e-9)
    avg = rows_of(compare(read_situation(state), scenario))["AVG"]
    assert avg.drain_ms is None
    assert avg.drains_never


def test_a_division_that_leaves_queues_to_nobody_gets_no_star() -> None:
    """Only the rooms of one broker are given: the queues of the other have no owner."""
    held = [
        queue(broker, number, owners=[member(number // 6)["client_id"]])
        for broker in BROKERS
        for number in range(8)
    ]
    state = group_state([member(0), member(1)], held)
    scenario, _show = read_scenario("v=1&o=hz1&n=3")
    rows = rows_of(compare(read_situation(state), scenario))
    rooms = rows["MACHINE_ROOM"]
    assert rooms.figures is not None
    assert (rooms.figures.unassigned, rooms.figures.full) == (8, False)
    assert rooms.figures.by_load.max_over_mean is None
    assert not rooms.best
    assert any(row.best for row in rows.values())


def test_a_queue_that_two_processes_would_consume_gets_no_star() -> None:
    state = group_state([member(0), member(0)], [queue(BROKERS[0], n) for n in (0, 1)])
    rows = rows_of(compare(read_situation(state), Scenario()))
    ring = rows["CONSISTENT_HASH"]
    assert ring.figures is not None
    assert ring.figures.twice == 2
    assert not any(row.best for row in rows.values())


def test_moves_of_queues_whose_owners_are_not_known_are_not_counted() -> None:
    state = lab()
    state["queues"][0] |= {"owners": [], "unknown": {"owners": "no_answer"}}
    rows = rows_of(compare(read_situation(state), Scenario()))
    assert rows["AVG"].changes_partial
    assert not any("changes" in row.best for row in rows.values())
