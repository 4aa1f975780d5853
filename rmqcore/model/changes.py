"""The differences between two snapshots, found in bulk.

Unchanged parts are usually the same objects, so most comparisons are of identities; the
others compare arrays as memory. Only changed rows become numbers in a list.
"""

from __future__ import annotations

from dataclasses import dataclass

from .columns import Column
from .snapshot import ClusterSnapshot, GroupSnapshot, QueueTable


@dataclass(frozen=True, slots=True)
class GroupChange:
    """The differences in one group that both snapshots have.

    `queue_set` means that rows were added or removed; the row lists are then empty, as
    rows of the two tables no longer correspond. Otherwise `values` are the rows with
    another number or reason in any column, `owners` those with other owners; `retry`
    means that a number in the retry topic's rows differs.
    """

    group: str
    members: bool
    subscriptions: bool
    strategy: bool
    queue_set: bool
    values: tuple[int, ...]
    owners: tuple[int, ...]
    retry: bool


@dataclass(frozen=True, slots=True)
class SnapshotChanges:
    """Groups that came, went and changed, by name in the order of their names."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[GroupChange, ...]


def compare(before: ClusterSnapshot, after: ClusterSnapshot) -> SnapshotChanges:
    """Return the differences in `after`, group by group."""
    old, new = before.groups, after.groups
    changed = (
        group_change(old[name], group)
        for name, group in new.items()
        if name in old and old[name] is not group
    )
    return SnapshotChanges(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(change for change in changed if change is not None),
    )


def group_change(before: GroupSnapshot, after: GroupSnapshot) -> GroupChange | None:
    """Return the differences in one group, None when there are none.

    The times at which members were asked and answered do not count.
    """
    queue_set = (
        before.queues.keys != after.queues.keys or before.retry.keys != after.retry.keys
    )
    change = GroupChange(
        after.name,
        members=_membership(before) != _membership(after),
        subscriptions=before.subscriptions != after.subscriptions
        or _own_subscriptions(before) != _own_subscriptions(after),
        strategy=(before.strategy, before.strategy_source)
        != (after.strategy, after.strategy_source),
        queue_set=queue_set,
        values=() if queue_set else _changed_values(before.queues, after.queues),
        owners=() if queue_set else _changed_owners(before, after),
        retry=not queue_set and bool(_changed_values(before.retry, after.retry)),
    )
    nothing = GroupChange(after.name, False, False, False, False, (), (), False)
    return None if change == nothing else change


def _membership(group: GroupSnapshot) -> list[tuple[str, str, str | None]]:
    return [(m.client_id, m.address, m.strategy) for m in group.members]


def _own_subscriptions(group: GroupSnapshot) -> list[object]:
    return [member.subscriptions for member in group.members]


def _changed_values(before: QueueTable, after: QueueTable) -> tuple[int, ...]:
    rows: set[int] = set()
    for old, new in _column_pairs(before, after):
        if old is not new:
            rows.update(old.changed_rows(new))
    return tuple(sorted(rows))


def _column_pairs(
    before: QueueTable, after: QueueTable
) -> tuple[tuple[Column, Column], ...]:
    # `lag` follows from max and committed, so it never differs by itself.
    return (
        (before.min, after.min),
        (before.max, after.max),
        (before.committed, after.committed),
        (before.pulled, after.pulled),
        (before.lag_ms, after.lag_ms),
    )


def _changed_owners(before: GroupSnapshot, after: GroupSnapshot) -> tuple[int, ...]:
    old, new = before.owners, after.owners
    if old is new or old == new:
        return ()
    if not old.by_row or not new.by_row:
        return tuple(range(len(after.queues)))
    return tuple(
        row
        for row in range(len(after.queues))
        if old.by_row[row] != new.by_row[row] or old.sources[row] != new.sources[row]
    )
