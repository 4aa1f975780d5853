from __future__ import annotations

import pytest

from dashboard.collector.group_document import group_document
from dashboard.collector.ownership import OwnershipTracker
from dashboard.collector.rates import Rates
from dashboard.live.numbering import Stamp
from dashboard.wording.names import label_of
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import GroupKind

from .sights import NOW, broker, group, keys, member, sight, table

STAMP = Stamp("r1", 5)
QUEUES = keys(4)


def test_shows_members_with_what_they_hold() -> None:
    seen = group(
        table(QUEUES, high=[100, 130, 100, 100]),
        [member("c1", QUEUES[:2], strategy="AVG"), member("c2", QUEUES[2:])],
        expected=["c1", "c1", "c2", "c2"],
    )
    rates = Rates(9.0, 4.0, (1.0,) * 4, (1.04, None, 1.0, 2.0))
    document = group_document(sight(seen, rates=rates, hosted={"c2": NOW}), STAMP)
    first, second = document["members"]
    assert (first["queues"], first["lag"], first["rate_out"]) == (2, 30, 1.0)
    assert (first.get("lag_partial"), first.get("rate_partial")) == (False, True)
    assert (second.get("lag_partial"), second.get("rate_partial")) == (False, False)
    assert (first["strategy"], first["managed"]) == ("AVG", False)
    assert (second["slot"], second["managed"], second["idle"]) == (1, True, None)
    assert (first["busy_since"], second["busy_since"]) == (None, NOW)
    assert document["queues"][1]["owners"] == ["c1"]
    assert document["queues"][1]["lag"] == 30
    assert document["queues"][0]["rate_out"] == 1.0


def test_sums_and_status_are_of_the_group() -> None:
    seen = group(
        table(QUEUES, high=[130, 110, 100, 100]),
        [member("c1", QUEUES[:2]), member("c2", QUEUES[2:])],
        expected=["c1"] * 4,
    )
    document = group_document(sight(seen), STAMP)
    totals = document["totals"]
    assert (totals["members"], totals["queues"], totals["owned"]) == (2, 4, 4)
    assert (totals["lag"], totals["lag_partial"], totals["skew"]) == (40, False, 2.0)
    assert totals["oldest_ms"] is None
    assert document["status"] == {"level": "ok", "word": "healthy"}
    assert (document["run"], document["seq"]) == ("r1", 5)


def test_connections_of_a_client_id_are_members_with_what_the_id_holds() -> None:
    both = [member("c1", QUEUES[:2]), member("c1", QUEUES[:2])]
    seen = group(
        table(QUEUES, high=[130, 110, 120, 100]),
        [*both, member("c2", QUEUES[2:])],
        expected=["c1", "c1", "c2", "c2"],
    )
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    ownership = tracker.judge(seen, NOW + 3000)
    document = group_document(sight(seen, ownership=ownership), STAMP)
    assert [
        (m["client_id"], m["connection"], m["queues"], m["lag"])
        for m in document["members"]
    ] == [("c1", 0, 2, 40), ("c1", 1, 2, 40), ("c2", 0, 2, 20)]
    assert document["totals"]["lag"] == 60
    assert document["totals"]["reporting"] == document["totals"]["members"] == 3
    # 40 over the mean of 40, 40 and 20.
    assert document["totals"]["skew"] == 1.2


@pytest.mark.parametrize("kind", [GroupKind.SHARED_POP, GroupKind.MIXED])
def test_members_without_queues_of_their_own_have_no_lag_to_know(
    kind: GroupKind,
) -> None:
    seen = group(table(QUEUES, high=[130] * 4), [member("c1", ())], kind=kind)
    rates = Rates(9.0, 4.0, (1.0,) * 4, (1.0,) * 4)
    document = group_document(sight(seen, rates=rates), STAMP)
    (one,) = document["members"]
    assert (one["lag"], one["rate_out"]) == (None, None)
    assert document["totals"]["unowned"] == 0
    assert document["status"]["word"] != "no_owner"


def test_a_queue_that_nobody_was_assigned_has_no_owner_to_tell() -> None:
    held = [member("c1", QUEUES[:3])]
    seen = group(table(QUEUES), held, kind=GroupKind.ASSIGNED_BY_HAND)
    document = group_document(sight(seen), STAMP)
    assert document["queues"][3]["unknown"]["owners"] == "not_asked"


def test_unknown_is_null_with_its_reason() -> None:
    seen = group(
        table(
            QUEUES,
            high=[Reason.NO_ANSWER, 5, 0, 100],
            committed=[7, Reason.NOTHING_COMMITTED, Reason.NOTHING_COMMITTED, 100],
        ),
        [member("c1", QUEUES)],
        expected=["c1"] * 4,
    )
    document = group_document(sight(seen), STAMP)
    queue = document["queues"][0]
    assert (queue["max"], queue["lag"], queue["committed"]) == (None, None, 7)
    assert queue["unknown"]["max"] == "no_answer"
    assert document["queues"][1]["unknown"]["lag"] == "nothing_committed"
    assert document["totals"]["lag_partial"]
    (holder,) = document["members"]
    assert (holder["lag"], holder.get("lag_partial")) == (0, True)


def test_an_empty_queue_without_commit_hides_nothing() -> None:
    seen = group(
        table(QUEUES[:2], high=[0, 100], committed=[Reason.NOTHING_COMMITTED, 90]),
        [member("c1", QUEUES[:2])],
        expected=["c1"] * 2,
    )
    totals = group_document(sight(seen), STAMP)["totals"]
    assert (totals["lag"], totals["lag_partial"]) == (10, False)


def test_nothing_known_is_no_lag_of_zero() -> None:
    seen = group(
        table(QUEUES, high=[Reason.NO_ANSWER] * 4),
        [member("c1", QUEUES)],
        expected=["c1"] * 4,
    )
    document = group_document(sight(seen), STAMP)
    assert document["totals"]["lag"] is None
    assert document["members"][0]["lag"] is None
    assert document["status"]["word"] == "unknown"


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([member(f"c{n}", ()) for n in range(5)], "more_members_than_queues"),
        ([member("c0", (), topics=["other"])], "not_subscribed"),
        ([member("c0", (), topics=["orders"])], "no_queues"),
    ],
)
def test_idle_members_say_why(members: list, reason: str) -> None:  # type: ignore[type-arg]
    seen = group(table(QUEUES), members, expected=["other"] * 4)
    document = group_document(sight(seen), STAMP)
    assert document["members"][0]["idle"] == reason
    assert (document["members"][0]["lag"], document["members"][0]["rate_out"]) == (0, 0)


def test_confirmed_gaps_make_the_group_critical() -> None:
    seen = group(table(QUEUES), [member("c1", QUEUES[1:])], expected=["c1"] * 4)
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW - 3000)
    document = group_document(sight(seen, ownership=tracker.judge(seen, NOW)), STAMP)
    assert document["totals"]["unowned"] == 1
    assert document["status"] == {"level": "crit", "word": "no_owner"}
    assert document["queues"][0]["expected"] == "c1"
    assert "owners" not in document["queues"][0]["unknown"]


def test_shared_groups_are_never_unowned() -> None:
    seen = group(
        table(QUEUES), [member("c1")], kind=GroupKind.SHARED_POP, reason=Reason.SHARED
    )
    document = group_document(sight(seen), STAMP)
    assert document["queues"][0]["unknown"]["owners"] == "shared"
    assert (document["totals"]["unowned"], document["members"][0]["idle"]) == (0, None)


def test_brokers_that_the_group_needs_show_how_they_stand() -> None:
    seen = group(table(QUEUES), [member("c1", QUEUES)], expected=["c1"] * 4)
    document = group_document(sight(seen, brokers=[broker("a")]), STAMP)
    assert document["complete"]
    assert document["brokers"] == [
        {
            "name": "a",
            "answered": True,
            "age_ms": 200,
            "state": "answered",
            "since": None,
            "address": "127.0.0.1:10911",
            "error": None,
            "queues": 4,
            "last_lag": None,
        }
    ]


@pytest.mark.parametrize(
    ("client_id", "label"),
    [
        ("10.20.4.17@30412#98765432100", "10.20.4.17@30412"),
        ("10.20.4.17@billing-1", "billing-1"),
        ("10.20.4.17@billing-1@unit", "billing-1"),
        ("10.20.4.17@DEFAULT", "10.20.4.17"),
        ("10.20.4.17@a#b", "a#b"),
        ("plain", "plain"),
    ],
)
def test_labels_are_short_and_telling(client_id: str, label: str) -> None:
    assert label_of(client_id) == label


def test_a_queue_that_nobody_reads_any_more_says_so() -> None:
    both = (*keys(2), *keys(2, "invoices"))
    readers = [member("c1", keys(2), topics=["orders"])]
    seen = sight(group(table(both), readers, expected=["c1"] * 4))
    document = group_document(seen, Stamp("r", 1))
    assert [queue["unknown"].get("owners") for queue in document["queues"]] == [
        None,
        None,
        "not_read",
        "not_read",
    ]
    assert document["status"] == {"level": "ok", "word": "healthy"}
