from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dashboard.groups import reads as groups
from tests.dashboard.documents import (
    BROKERS,
    NOW_MS,
    group_state,
    member,
    queue,
    waiting_for_locks,
)
from tests.dashboard.missing import broker_missing, old_queue, shared_ids

EXAMPLES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("queue_status.json").read_text()
)


def state_of(example: dict[str, Any]) -> Any:
    given = {"owners": ["a"], **example["queue"]}
    one = queue(BROKERS[0], 0, **given)
    return group_state([member(0)], [one], kind=example.get("kind", "owned"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_a_queue_gets_the_word_listed(example: dict[str, Any]) -> None:
    state = state_of(example)
    status = groups.queue_status(state, state["queues"][0])
    assert (status.level, status.word) == (example["level"], example["word"])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_a_queue_drains_as_listed(example: dict[str, Any]) -> None:
    drained = groups.drain(state_of(example)["queues"][0])
    assert (drained.ms or drained.reason or drained.kind) == example["drain"]


def test_rows_with_little_lag_stand_still() -> None:
    lags = [3, 0, 99, 7]
    queues = [queue(BROKERS[0], n, lag=lag) for n, lag in enumerate(lags)]
    for each in queues:
        each["owners"] = ["a"]
    rows = groups.queue_rows(group_state([member(0)], queues), NOW_MS)
    assert [row.queue["queue_id"] for row in rows] == [0, 1, 2, 3]


def test_rows_come_worst_first() -> None:
    rows = groups.queue_rows(waiting_for_locks(), NOW_MS)
    assert [row.status.word for row in rows[:5]] == ["no_owner"] * 4 + [
        "falling_behind"
    ]
    assert [row.queue["lag"] for row in rows[:4]] == [7_916, 7_466, 7_310, 7_297]
    assert len(rows) == 16


def test_a_row_names_owner_and_whom_it_waits_for() -> None:
    rows = {row.key: row for row in groups.queue_rows(waiting_for_locks(), NOW_MS)}
    held = rows["orders|hz1@broker-a|0"]
    assert [(holder.label, holder.slot) for holder in held.holders] == [
        ("10.20.4.17", 0)
    ]
    waiting = rows["orders|hz2@broker-b|4"]
    assert waiting.holders == []
    assert waiting.expected is not None
    assert waiting.expected.label == "10.20.4.19"


def test_an_owner_that_is_no_member_is_named_by_its_id() -> None:
    state = group_state([member(0)], [queue(BROKERS[0], 0, owners=["gone@1"])])
    holder = groups.queue_rows(state, NOW_MS)[0].holders[0]
    assert (holder.label, holder.slot) == ("gone@1", None)


def test_old_values_come_last_with_whom_they_were_known_to_belong() -> None:
    rows = groups.queue_rows(broker_missing(), NOW_MS)
    assert [row.last is None for row in rows] == [True] * 8 + [False] * 8
    assert [row.lag for row in rows[:2]] == [5_612, 5_604]
    worst = rows[8]
    assert (worst.key, worst.lag) == ("orders|hz1@broker-a|4", 5_623)
    assert [holder.label for holder in worst.holders] == ["10.20.4.18"]
    assert (worst.holders_old, worst.source_word) == (True, "last_reported")
    assert (worst.in_hand, worst.drain.kind) == (None, "unknown")
    assert set(worst.reasons.values()) == {"missing"}


def test_what_members_say_of_a_queue_is_fresh_though_its_broker_is_away() -> None:
    one = old_queue(BROKERS[0], 0, NOW_MS, owners=["then"])
    one["owners"], one["owner_source"] = [member(0)["client_id"]], "reported"
    (row,) = groups.queue_rows(group_state([member(0)], [one]), NOW_MS)
    assert [holder.label for holder in row.holders] == ["10.20.4.17"]
    assert (row.holders_old, row.source_word) == (False, "reported")


def test_two_connections_of_one_client_id_are_the_owner_together() -> None:
    held = groups.queue_rows(shared_ids(), NOW_MS)[0].holders
    assert [(holder.label, holder.slot) for holder in held] == [("10.20.4.17", 0)]


@pytest.mark.parametrize(
    ("unknown", "column", "reason"),
    [
        ({"lag_ms": "not_asked"}, "lag_ms", "not_asked"),
        ({}, "lag", None),
        ({}, "rate_in", "first_sample"),
        ({"committed": "nothing_committed"}, "pulled", "nothing_committed"),
    ],
)
def test_a_dash_carries_the_reason_that_is_known(
    unknown: dict[str, str], column: str, reason: str | None
) -> None:
    one = queue(BROKERS[0], 0, unknown=unknown)
    assert groups.reason_of(one, column) == reason


def test_messages_in_hand_are_pulled_and_not_committed() -> None:
    known = queue(BROKERS[0], 0, pulled=50, committed=40)
    back = queue(BROKERS[0], 1, pulled=30, committed=40)
    unknown = queue(BROKERS[0], 2, pulled=None)
    rows = groups.queue_rows(group_state([member(0)], [known, back, unknown]), NOW_MS)
    in_hand = {row.queue["queue_id"]: row.in_hand for row in rows}
    assert in_hand == {0: 10, 1: 0, 2: None}


def test_how_long_ago_a_queue_moved() -> None:
    moved = queue(BROKERS[0], 0, moved_at=NOW_MS - 5_000)
    rows = groups.queue_rows(group_state([member(0)], [moved]), NOW_MS)
    assert rows[0].moved_ms == 5_000


def test_figures_of_the_group() -> None:
    state = waiting_for_locks()
    state["members"][2]["idle"] = "no_queues"
    state["members"][0]["strategy"] = None
    oldest = groups.oldest_queue(state)
    assert oldest is not None
    assert (oldest["broker"], oldest["queue_id"]) == ("hz1@broker-a", 6)
    assert groups.idle_members(state) == 1
    assert groups.strategy_reporters(state) == 2
    assert groups.topics(state) == ["orders"]


def test_a_group_without_lag_has_no_oldest_queue() -> None:
    assert groups.oldest_queue(group_state([], [queue("b", 0, lag_ms=0)])) is None
