"""What is said to be at stake in a group before members are hosted in it."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.hosting.guard import FRESH_MS, Stake, look_at, said, stake_in
from tests.dashboard.conftest import Write
from tests.dashboard.documents import (
    NOW_MS,
    hosted_group,
    looked_at,
    overview,
    overview_row,
    waiting_for_locks,
)

GROUP = "order-settlement"
LATER = NOW_MS + FRESH_MS


def nobody(_client_id: str) -> bool:
    return False


def stake(*documents: Any, write: Write, group: str = GROUP, now: int = LATER) -> Stake:
    write(*documents)
    return look_at("hangzhou", group, nobody, now_ms=now)


def test_strangers_and_the_queues_they_hold_are_named() -> None:
    found = stake_in(waiting_for_locks(), nobody)
    assert len(found.strangers) == 3
    assert len(found.queues) == 12
    assert found.queues[0] == "orders/hz1@broker-a/0"
    text = said(found, GROUP, "count", hosted=True)
    assert "3 members that are not hosted here (10.20.4.17@4100#" in text
    assert "orders/hz1@broker-a/7 and 4 more" in text
    assert f"Messages that wait now: {found.waiting:,}." in text
    assert "“count” acknowledges messages without processing them" in text


def test_members_of_our_own_are_no_strangers() -> None:
    found = stake_in(hosted_group(), lambda each: "-settlement-" in each)
    assert (found.strangers, found.queues) == ([], [])
    assert said(found, GROUP, "count", hosted=True) == ""


def test_committed_offsets_count_only_for_groups_not_hosted_yet() -> None:
    away = Stake(committed=16, waiting=5, at_least=True)
    text = said(away, GROUP, "fail", hosted=False)
    assert "Nobody is online" in text
    assert "committed offsets on 16 queues" in text
    assert "at least 5" in text
    assert "dead-letter queue" in text
    assert said(away, GROUP, "fail", hosted=True) == ""


def test_listeners_of_ones_own_are_named() -> None:
    assert "“bill” gets messages" in said(
        Stake(committed=1), GROUP, "bill", hosted=False
    )


def test_a_group_that_a_whole_fresh_list_lacks_is_nobodys(write: Write) -> None:
    assert stake(looked_at(at=NOW_MS), write=write, group="new") == Stake()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"at": NOW_MS - 1}, "the last look was 30 s ago"),
        ({"error": "no name server answered"}, "(no name server answered)"),
        ({"brokers": overview()["brokers"]}, "no full answer from hz2@broker-c"),
        (
            {
                "nameservers": [
                    {"address": "h:1", "answered": False, "error": "", "unlisted": []}
                ]
            },
            "no full answer from h:1",
        ),
    ],
)
def test_a_part_is_not_the_whole(
    write: Write, changes: dict[str, Any], why: str
) -> None:
    found = stake(looked_at(**{"at": NOW_MS, **changes}), write=write, group="new")
    assert why in found.doubt
    text = said(found, "new", "count", hosted=True)
    assert f"Whether others use “new” is not certain: {found.doubt}." in text


def test_without_any_look_it_is_not_certain(write: Write, settings: Any) -> None:
    assert "not been looked at" in stake(write=write).doubt
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert "cannot be read" in look_at("hangzhou", GROUP, nobody).doubt


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"at": NOW_MS - 1}, "the last look was 30 s ago"),
        ({"complete": False}, "not everything about it is known"),
        ({"fault": "KeyError"}, "failed to judge it"),
    ],
)
def test_a_group_that_is_not_known_for_certain(
    write: Write, changes: dict[str, Any], why: str
) -> None:
    listed = looked_at(at=NOW_MS, groups=[overview_row(GROUP)])
    found = stake(listed, hosted_group(**{"at": NOW_MS, **changes}), write=write)
    assert why in found.doubt
    assert found.strangers


def test_a_listed_group_without_a_document_is_not_certain(write: Write) -> None:
    listed = looked_at(at=NOW_MS, groups=[overview_row(GROUP)])
    assert stake(listed, write=write).doubt == "it has not been looked at yet"
