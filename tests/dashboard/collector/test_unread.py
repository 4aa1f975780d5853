from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from dashboard.collector.unread import Unread, unread_by_place
from rmqcore.model import SubscriptionData
from rmqcore.model.columns import QueueKey, Reason
from tests.dashboard.collector.sights import group, keys, member, sight, table
from tests.dashboard.documents import overview_row

HOUR = 3_600_000
A, B = ("orders", "a"), ("orders", "b")
TWO = keys(2) + keys(2, broker="b")


def unread(
    ages: list[int | Reason],
    *,
    queues: tuple[QueueKey, ...] = TWO,
    lags: list[int | Reason] | None = None,
    **row: Any,
) -> dict[tuple[str, str], Unread]:
    """Return what waits for one group whose queues have these ages."""
    known = lags or [5] * len(queues)
    committed = [each if isinstance(each, Reason) else 100 - each for each in known]
    waiting = table(queues, committed=committed, lag_ms=ages)
    seen = group(waiting, [member("one")] if row.get("members") else [])
    watches: Any = {"g": SimpleNamespace(sight=sight(seen))}
    return unread_by_place(watches, {"g": overview_row("g", **row)})


def test_each_broker_has_the_age_of_its_own_oldest_message() -> None:
    found = unread([HOUR, 2 * HOUR, 10, 20], members=0)
    assert found == {A: Unread(2 * HOUR), B: Unread(20)}


def test_where_nothing_waits_there_is_no_age() -> None:
    assert unread([0, 0, 7, 8], lags=[0, 0, 5, 5], members=0) == {B: Unread(8)}
    assert unread([0] * 4, lags=[0] * 4, members=0) == {}


def test_an_age_or_a_lag_that_is_not_known_may_be_older() -> None:
    asked = unread([HOUR, Reason.NOT_ASKED, 10, 20], members=0)
    assert asked[A] == Unread(HOUR, partial=True)
    silent = Reason.NO_ANSWER
    away = unread([1, 2, silent, silent], lags=[5, 5, silent, silent], members=0)
    assert away[B] == Unread(partial=True)


def test_messages_that_were_deleted_unread_are_lost() -> None:
    found = unread([Reason.EXPIRED, 10, 10, 20], members=0)
    assert found[A] == Unread(10, lost=True)
    assert not found[B].lost


def test_what_no_member_reads_any_more_and_what_is_broadcast_does_not_count() -> None:
    assert unread([1, 2, 3, 4], members=0, kind="broadcasting") == {}
    waiting = table(TWO, committed=[90] * 4, lag_ms=[1] * 4)
    for topic, places in (("other", set()), ("orders", {A, B})):
        seen = group(waiting, [member("one")])
        seen = replace(seen, subscriptions=(SubscriptionData(topic),))
        watches: Any = {"g": SimpleNamespace(sight=sight(seen))}
        found = unread_by_place(watches, {"g": overview_row("g", members=1)})
        assert set(found) == places
