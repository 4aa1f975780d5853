from __future__ import annotations

from dataclasses import replace

from rmqcore.model.changes import compare, group_change
from rmqcore.model.columns import Column, Reason
from rmqcore.model.snapshot import Owners, OwnerSource, StrategySource
from rmqcore.model.subscription import SubscriptionData

from .snapshots import cluster_of, group_of, member_of, table_of


def test_the_same_snapshot_has_no_changes() -> None:
    before = cluster_of([group_of("G", [1, 2])])
    changes = compare(before, cluster_of([group_of("G", [1, 2])]))
    assert (changes.added, changes.removed, changes.changed) == ((), (), ())


def test_groups_come_and_go() -> None:
    before = cluster_of([group_of("A", [1]), group_of("B", [1])])
    changes = compare(before, cluster_of([group_of("B", [1]), group_of("C", [1])]))
    assert (changes.added, changes.removed, changes.changed) == (("C",), ("A",), ())


def test_rows_with_other_numbers_are_listed() -> None:
    change = group_change(group_of("G", [1, 2, 3]), group_of("G", [1, 5, 4]))
    assert change is not None
    assert change.values == (1, 2)
    assert change.owners == ()
    assert not any((change.members, change.strategy, change.queue_set, change.retry))


def test_a_row_that_becomes_unknown_has_changed() -> None:
    change = group_change(group_of("G", [1, 2]), group_of("G", [1, Reason.NO_ANSWER]))
    assert change is not None
    assert change.values == (1,)


def test_another_set_of_queues_lists_no_rows() -> None:
    change = group_change(group_of("G", [1, 2]), group_of("G", [1, 2, 3]))
    assert change is not None
    assert change.queue_set
    assert (change.values, change.owners) == ((), ())


def test_a_member_that_joins_changes_members() -> None:
    change = group_change(group_of("G", [1], ("a",)), group_of("G", [1], ("a", "b")))
    assert change is not None
    assert change.members
    assert change.values == ()


def test_rows_with_other_owners_are_listed() -> None:
    before = group_of("G", [1, 2])
    moved = Owners((("c1",), ("c2",)), before.owners.sources)
    change = group_change(before, replace(before, owners=moved))
    assert change is not None
    assert change.owners == (1,)


def test_owners_that_become_reported_have_changed() -> None:
    before = group_of("G", [1])
    reported = Owners(before.owners.by_row, (OwnerSource.REPORTED,))
    change = group_change(before, replace(before, owners=reported))
    assert change is not None
    assert change.owners == (0,)


def test_owners_that_become_unknown_change_every_row() -> None:
    before = group_of("G", [1, 2])
    unknown = replace(before, owners=Owners(reason=Reason.SHARED))
    change = group_change(before, unknown)
    assert change is not None
    assert change.owners == (0, 1)


def test_the_time_of_asking_is_no_change() -> None:
    before = group_of("G", [1], members=("a",))
    later = replace(before, members=(member_of("a", asked_at_ms=5, answered_at_ms=6),))
    assert group_change(before, later) is None


def test_strategy_and_subscriptions() -> None:
    before = group_of("G", [1])
    change = group_change(
        before,
        replace(
            before,
            strategy_source=StrategySource.REPORTED,
            subscriptions=(SubscriptionData("T", "red"),),
        ),
    )
    assert change is not None
    assert change.strategy
    assert change.subscriptions


def test_a_members_own_subscriptions_count() -> None:
    before = group_of("G", [1], members=("a",))
    own = (SubscriptionData("T", "red"),)
    change = group_change(
        before, replace(before, members=(member_of("a", subscriptions=own),))
    )
    assert change is not None
    assert change.subscriptions


def test_the_retry_topic_has_a_flag_of_its_own() -> None:
    before = group_of("G", [1], retry=table_of("%RETRY%G", [1]))
    change = group_change(before, replace(before, retry=table_of("%RETRY%G", [2])))
    assert change is not None
    assert change.retry
    assert change.values == ()


def test_a_column_asked_for_now_changes_its_rows() -> None:
    before = group_of("G", [1, 2])
    asked = replace(before.queues, lag_ms=Column.of([5, Reason.EXPIRED]))
    change = group_change(before, replace(before, queues=asked))
    assert change is not None
    assert change.values == (0, 1)
