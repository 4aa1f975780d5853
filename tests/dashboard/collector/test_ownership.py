from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.collector.ownership import (
    CONFIRM_AFTER_MS,
    OwnershipTracker,
    RowOwners,
)
from dashboard.collector.unheard import READ_MS
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import GroupKind, GroupSnapshot, StrategySource

from .sights import NOW, group, keys, member, table

QUEUES = keys(4)
A, B = QUEUES[:2], QUEUES[2:]


def divided(first: object, second: object, **options: object) -> GroupSnapshot:
    members = [member("c1", first), member("c2", second)]  # type: ignore[arg-type]
    return group(table(QUEUES), members, expected=["c1", "c1", "c2", "c2"], **options)  # type: ignore[arg-type]


def test_what_members_say_is_reported() -> None:
    ownership = OwnershipTracker().judge(divided(A, B), NOW)
    assert [row.owners for row in ownership.rows] == [
        ("c1",),
        ("c1",),
        ("c2",),
        ("c2",),
    ]
    assert {row.source for row in ownership.rows} == {"reported"}
    assert ownership.complete
    assert ownership.reporting == 2


def test_reported_wins_over_expected_which_is_kept_beside() -> None:
    ownership = OwnershipTracker().judge(divided(B, A), NOW)
    assert ownership.rows[0] == RowOwners(("c2",), "reported", "c1")


def test_without_reports_owners_are_inferred_or_assumed() -> None:
    unasked = divided(None, None)
    assert OwnershipTracker().judge(unasked, NOW).rows[0].source == "assumed"
    known = divided(None, None, source=StrategySource.REPORTED)
    row = OwnershipTracker().judge(known, NOW).rows[0]
    assert (row.owners, row.source) == (("c1",), "inferred")


def test_one_silent_member_leaves_its_part_inferred() -> None:
    ownership = OwnershipTracker().judge(divided(A, None), NOW)
    assert [row.source for row in ownership.rows] == [
        "reported",
        "reported",
        "assumed",
        "assumed",
    ]
    assert not ownership.complete


def test_a_queue_is_unowned_only_after_two_rounds_two_seconds_apart() -> None:
    tracker = OwnershipTracker()
    lost = divided(A, B[1:])
    first = tracker.judge(lost, NOW).rows[2]
    assert (first.owners, first.source, first.wrong) == (("c2",), "assumed", None)
    early = tracker.judge(lost, NOW + CONFIRM_AFTER_MS - 1).rows[2]
    assert early.wrong is None
    ownership = tracker.judge(lost, NOW + CONFIRM_AFTER_MS)
    assert ownership.rows[2] == RowOwners((), "reported", "c2", "unowned", NOW)
    assert ownership.count("unowned") == 1


def test_a_queue_that_only_changed_hands_was_never_unowned() -> None:
    tracker = OwnershipTracker()
    tracker.judge(divided(A, B[1:]), NOW)
    assert tracker.judge(divided(A, B), NOW + 1000).rows[2].wrong is None
    assert tracker.judge(divided(A, B[1:]), NOW + 3000).rows[2].wrong is None


def test_two_owners_are_shown_only_once_confirmed() -> None:
    tracker = OwnershipTracker()
    both = divided((*A, B[0]), B)
    first = tracker.judge(both, NOW).rows[2]
    assert (first.owners, first.wrong, first.moving) == (("c2",), None, True)
    confirmed = tracker.judge(both, NOW + CONFIRM_AFTER_MS).rows[2]
    assert (confirmed.owners, confirmed.wrong) == (("c1", "c2"), "double")


def test_two_unexpected_holders_show_the_first_until_confirmed() -> None:
    members = [member(name, QUEUES) for name in ("c1", "c2")]
    seen = group(table(QUEUES), [*members, member("c3", ())], expected=["c3"] * 4)
    assert OwnershipTracker().judge(seen, NOW).rows[0].owners == ("c1",)


def test_a_holder_heard_of_between_two_rounds_was_one() -> None:
    tracker = OwnershipTracker()
    tracker.judge(divided(A, B[1:]), NOW)
    tracker.judge(divided(None, B), NOW + 1000)
    assert tracker.judge(divided(A, B[1:]), NOW + 2500).rows[2].wrong is None


def test_an_incomplete_round_confirms_nothing_new() -> None:
    tracker = OwnershipTracker()
    tracker.judge(divided(A[1:], None), NOW)
    row = tracker.judge(divided(A[1:], None), NOW + 10_000).rows[0]
    assert (row.owners, row.wrong) == (("c1",), None)


def test_a_known_gap_stays_while_its_expected_owner_still_denies_it() -> None:
    tracker = OwnershipTracker()
    tracker.judge(divided(A[1:], B), NOW)
    tracker.judge(divided(A[1:], B), NOW + CONFIRM_AFTER_MS)
    assert tracker.judge(divided(A[1:], None), NOW + 3000).rows[0].wrong == "unowned"
    silent = tracker.judge(divided(None, B), NOW + 4000).rows[0]
    assert (silent.owners, silent.wrong) == (("c1",), None)


def test_shared_groups_claim_no_owners_and_say_why() -> None:
    seen = group(table(QUEUES), [member("c1")], reason=Reason.SHARED)
    ownership = OwnershipTracker().judge(seen, NOW)
    assert ownership.reason is Reason.SHARED
    assert ownership.rows == (RowOwners((), None),) * 4


def test_reports_count_even_where_the_strategy_is_unknown() -> None:
    members = [member("c1", QUEUES[:3])]
    seen = group(table(QUEUES), members, reason=Reason.UNKNOWN_STRATEGY)
    rows = OwnershipTracker().judge(seen, NOW).rows
    assert rows[0] == RowOwners(("c1",), "reported")
    assert rows[3] == RowOwners((), None)


def test_queues_that_are_gone_are_forgotten() -> None:
    tracker = OwnershipTracker()
    lost = divided(A, B[1:])
    tracker.judge(lost, NOW)
    tracker.judge(group(table(A), [member("c1", A)], expected=["c1"] * 2), NOW + 1000)
    assert tracker.judge(lost, NOW + 2500).rows[2].wrong is None


def test_one_word_for_two_processes_is_owned_twice_and_the_rest_by_nobody() -> None:
    both = [member("c1", A), member("c1", A)]
    seen = group(table(QUEUES), both, expected=["c1"] * 4)
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    ownership = tracker.judge(seen, NOW + CONFIRM_AFTER_MS)
    assert ownership.complete
    assert ownership.reporting == 2
    assert ownership.rows[0].owners == ("c1", "c1")
    assert [row.wrong for row in ownership.rows] == ["double"] * 2 + ["unowned"] * 2


def shared(*committed: int | Reason) -> GroupSnapshot:
    both = [member("c1", A), member("c1", A)]
    seen = table(QUEUES, high=[900] * 4, committed=committed)
    return group(seen, both, expected=["c1"] * 4)


def test_a_commit_that_becomes_known_is_no_commit() -> None:
    tracker = OwnershipTracker()
    tracker.judge(shared(5, 5, Reason.NO_ANSWER, Reason.NOTHING_COMMITTED), NOW)
    rows = tracker.judge(shared(5, 5, 400, 400), NOW + 1_000).rows
    later = tracker.judge(shared(5, 5, 400, 400), NOW + 4_000).rows
    assert [row.wrong for row in rows[2:]] == [None, None]
    # The other queue was committed for the first time: somebody reads it.
    assert [row.wrong for row in later[2:]] == ["unowned", None]


def test_what_a_process_without_a_word_reads_is_not_nobodys() -> None:
    tracker = OwnershipTracker()

    def wrong(at_ms: int, *committed: int) -> list[str | None]:
        rows = tracker.judge(shared(*committed), NOW + at_ms).rows
        assert (rows[2].owners == ()) == (rows[2].wrong is not None)
        return [row.wrong for row in rows[2:]]

    wrong(0, 5, 5, 5, 5)
    assert wrong(3_000, 9, 9, 5, 5) == ["unowned", "unowned"]
    assert wrong(6_000, 9, 9, 8, 5) == [None, "unowned"]
    assert wrong(6_000 + READ_MS, 9, 9, 8, 5) == [None, "unowned"]
    # Again two rounds have to show it.
    assert wrong(7_000 + READ_MS, 9, 9, 8, 5) == [None, "unowned"]
    assert wrong(9_000 + READ_MS, 9, 9, 8, 5) == ["unowned", "unowned"]
    # Who sets offsets back reads nothing.
    assert wrong(10_000 + READ_MS, 9, 9, 2, 5) == ["unowned", "unowned"]


def test_where_everybody_has_a_word_nobodys_queue_may_still_be_committed() -> None:
    # The last commit of who gave it up comes when it is nobody's already.
    tracker = OwnershipTracker()
    for at_ms, committed in ((0, 5), (3_000, 8)):
        lost = replace(
            divided(A, B[1:]), queues=table(QUEUES, committed=[committed] * 4)
        )
        rows = tracker.judge(lost, NOW + at_ms).rows
    assert rows[2].wrong == "unowned"


def test_logical_queues_are_owned_like_any_others() -> None:
    logical = keys(2, "orders", "__syslo__global__")
    seen = group(table(logical), [member("c1", logical[:1])], expected=["c1"] * 2)
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    held, lost = tracker.judge(seen, NOW + CONFIRM_AFTER_MS).rows
    assert (held.wrong, held.owners) == (None, ("c1",))
    assert lost.wrong == "unowned"


def test_physical_queues_of_a_static_topic_are_never_missing_an_owner() -> None:
    logical = (("orders", "__syslo__global__", 0),)
    seen = group(table(QUEUES), [member("c1", logical)], expected=["c1"] * 4)
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    ownership = tracker.judge(seen, NOW + CONFIRM_AFTER_MS)
    assert {(row.wrong, row.owners, row.source) for row in ownership.rows} == {
        (None, (), None)
    }


def test_queues_of_a_topic_that_was_given_up_are_not_missing_an_owner() -> None:
    both = (*QUEUES, *keys(2, "invoices"))
    readers = [member("c1", QUEUES, topics=["orders"])]
    seen = group(table(both), readers, expected=["c1"] * 6)
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    ownership = tracker.judge(seen, NOW + CONFIRM_AFTER_MS)
    assert [row.owners for row in ownership.rows] == [("c1",)] * 4 + [()] * 2
    assert ownership.count("unowned") == 0


def undivided(kind: GroupKind, *held: object) -> GroupSnapshot:
    """A group of that kind whose members hold these queues; None for one not asked."""
    members = [member(f"c{n}", each) for n, each in enumerate(held, 1)]  # type: ignore[arg-type]
    seen = group(table(QUEUES), members, kind=kind, expected=["c1"] * 4)
    # What a sweep infers of the first two is everybody, of the others nothing.
    return replace(seen, owners=replace(seen.owners, reason=None))


def confirmed(seen: GroupSnapshot) -> list[RowOwners]:
    """Return what is said after rounds that show the same for long enough."""
    tracker = OwnershipTracker()
    tracker.judge(seen, NOW)
    ownership = tracker.judge(seen, NOW + CONFIRM_AFTER_MS + 1)
    assert not ownership.divided
    assert [ownership.count(wrong) for wrong in ("double", "unowned")] == [0, 0]
    return list(ownership.rows)


def test_in_a_broadcasting_group_everybody_has_all() -> None:
    rows = confirmed(undivided(GroupKind.BROADCASTING, QUEUES, QUEUES))
    assert rows == [RowOwners(("c1", "c2"), "reported")] * 4


def test_who_was_not_asked_in_a_broadcasting_group_has_all_as_well() -> None:
    rows = confirmed(undivided(GroupKind.BROADCASTING, QUEUES, None))
    assert rows == [RowOwners(("c1", "c2"), "inferred")] * 4
    rows = confirmed(undivided(GroupKind.BROADCASTING, None, None))
    assert rows == [RowOwners(("c1", "c2"), "inferred")] * 4


def test_a_broadcasting_member_that_has_not_begun_is_missing_nothing() -> None:
    rows = confirmed(undivided(GroupKind.BROADCASTING, QUEUES, A))
    assert [row.owners for row in rows] == [("c1", "c2")] * 2 + [("c1",)] * 2
    rows = confirmed(undivided(GroupKind.BROADCASTING, A, A))
    assert rows[2:] == [RowOwners((), None)] * 2


def test_queues_assigned_by_hand_are_whose_they_are() -> None:
    rows = confirmed(undivided(GroupKind.ASSIGNED_BY_HAND, A, A, None))
    assert rows == [RowOwners(("c1", "c2"), "reported")] * 2 + [RowOwners((), None)] * 2


@pytest.mark.parametrize(
    ("kind", "reason"),
    [(GroupKind.SHARED_POP, Reason.SHARED), (GroupKind.MIXED, Reason.MIXED)],
)
def test_nothing_is_said_of_shared_and_mixed_groups_whatever_they_report(
    kind: GroupKind, reason: Reason
) -> None:
    for seen in (undivided(kind, (), ()), undivided(kind, QUEUES, None)):
        assert confirmed(seen) == [RowOwners((), None)] * 4
        assert OwnershipTracker().judge(seen, NOW).reason is reason


def test_a_group_that_becomes_clustering_is_judged_from_then_on() -> None:
    tracker = OwnershipTracker()
    tracker.judge(divided(QUEUES, QUEUES), NOW - 1000)
    tracker.judge(undivided(GroupKind.BROADCASTING, QUEUES, QUEUES), NOW)
    assert tracker.judge(divided(QUEUES, QUEUES), NOW + 1500).count("double") == 0
