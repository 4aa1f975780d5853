"""The members of all groups, as one document that is made again only in part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from dashboard.collector.client_rows import ClientRows
from dashboard.collector.group_document import Sight
from dashboard.collector.ownership import Ownership, RowOwners
from rmqcore.model.snapshot import GroupKind
from rmqcore.model.subscription import SubscriptionData

from .sights import NOW, group, keys, member, sight, table


def seen(name: str = "g", now_ms: int = NOW, **reports: Any) -> Sight:
    """Return a look at a group in which c1 and c2 own two queues each."""
    one, two = member("c1"), member("c2")
    if reports:
        one = replace(one, **reports)
    owners = ["c1", "c1", "c2", "c2"]
    return sight(
        group(table(keys(4)), [one, two], expected=owners, name=name), now_ms=now_ms
    )


def read(rows: ClientRows, now_ms: int = NOW) -> Any:
    text = rows.document("east", now_ms)
    return None if text is None else orjson.loads(text)


def test_members_of_all_groups_with_what_they_own() -> None:
    rows = ClientRows()
    rows.take(seen("g10"))
    rows.take(seen("g2"))
    document = read(rows)
    assert [each["group"] for each in document["groups"]] == ["g10", "g2"]
    one = document["groups"][0]["members"][0]
    assert (one["client_id"], one["queues"], one["seen_at"]) == ("c1", 2, NOW)
    assert (one["language"], one["subscriptions"]) == ("JAVA", None)


def test_a_document_is_written_when_something_changed_or_a_minute_passed() -> None:
    rows = ClientRows()
    rows.take(seen())
    assert read(rows) is not None
    assert read(rows) is not None, "until it is known to be stored"
    rows.written(NOW)
    rows.take(seen(now_ms=NOW + 10_000))
    assert read(rows, NOW + 10_000) is None
    assert read(rows, NOW + 60_000) is not None
    rows.take(seen("other"))
    assert read(rows, NOW + 10_000) is not None


def test_what_a_client_said_of_itself_stays_and_a_new_time_is_no_news() -> None:
    rows = ClientRows()
    told = {
        "started_at_ms": NOW - 5_000,
        "subscriptions": (SubscriptionData("t", "A || B"),),
        "reason": None,
    }
    rows.take(seen(**told, answered_at_ms=NOW))
    rows.written(NOW)
    rows.take(seen(**told, answered_at_ms=NOW + 9_000))
    assert read(rows) is None
    rows.take(seen())  # not asked this time
    rows.take(seen("other"))
    one = read(rows)["groups"][0]["members"][0]
    assert (one["started_at"], one["reported_at"]) == (NOW - 5_000, NOW)
    assert one["subscriptions"] == [["t", "A || B"]]


def test_two_processes_with_one_id_are_two_rows() -> None:
    rows = ClientRows()
    twins = [replace(member("c1"), address=f"10.0.0.{n}:4711") for n in (1, 2)]
    rows.take(sight(group(table(keys(2)), twins, expected=["c1", "c1"])))
    first, second = read(rows)["groups"][0]["members"]
    assert (first["connection"], second["connection"]) == (0, 1)
    assert second["address"] == "10.0.0.2:4711"


def test_queues_that_two_processes_with_one_id_read_count_once() -> None:
    rows = ClientRows()
    owned = RowOwners(("c1", "c1"), "reported", wrong="double")
    ownership = Ownership((owned, owned), complete=True, reporting=2)
    twins = group(table(keys(2)), [member("c1"), member("c1")])
    rows.take(sight(twins, ownership=ownership))
    assert [each["queues"] for each in read(rows)["groups"][0]["members"]] == [2, 2]


def test_owners_that_are_not_known_are_no_zero() -> None:
    rows = ClientRows()
    kind = GroupKind.BROADCASTING
    rows.take(sight(group(table(keys(2)), [member("c1")], kind=kind)))
    (only,) = read(rows)["groups"]
    assert only["why"] is not None
    assert only["members"][0]["queues"] is None


def test_groups_that_are_gone_or_empty_are_left_out() -> None:
    rows = ClientRows()
    rows.take(seen("a"))
    rows.take(seen("b"))
    rows.take(seen("c"))
    rows.take(sight(group(table(keys(2)), name="c")))
    rows.keep(["a", "c"])
    assert [each["group"] for each in read(rows)["groups"]] == ["a"]


def test_the_next_leader_goes_on_with_since_when_a_client_was_seen() -> None:
    rows = ClientRows()
    rows.take(seen())
    later = ClientRows()
    later.restore(read(rows))
    later.take(seen(now_ms=NOW + 60_000))
    assert read(later)["groups"][0]["members"][0]["seen_at"] == NOW
