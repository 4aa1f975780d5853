"""The oldest unread message of each topic on each broker, over all groups that read it.

A broker deletes by age and by disk, each broker for itself, so the age is kept by
broker. Groups that broadcast are left out, as brokers do not know what they have read,
and so are topics to which no member of a group that is online subscribes any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dashboard.live.documents import OverviewRow
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import GroupSnapshot, QueueTable

from .group_watch import GroupWatch


@dataclass(slots=True)
class Unread:
    """What waits of one topic on one broker; `oldest_ms` is 0 where nothing does.

    There may be an older message where this is `partial`. `lost` says that the broker
    has deleted messages which a group had not read.
    """

    oldest_ms: int = 0
    partial: bool = False
    lost: bool = False


def unread_by_place(
    watches: Mapping[str, GroupWatch], rows: Mapping[str, OverviewRow]
) -> dict[tuple[str, str], Unread]:
    """Return what waits, by topic and broker; places where nothing waits are absent."""
    found: dict[tuple[str, str], Unread] = {}
    for name, watch in watches.items():
        row, sight = rows.get(name), watch.sight
        if row is None or sight is None or row["kind"] == "broadcasting":
            continue
        group = sight.group
        if group.queues.lag.complete and not any(group.queues.lag.values):
            continue
        read = _topics_read(group, row)
        for at, (topic, broker, _queue_id) in enumerate(group.queues.keys):
            if group.queues.waiting(at) != 0 and (not read or topic in read):
                _note(found.setdefault((topic, broker), Unread()), group.queues, at)
    return found


def _topics_read(group: GroupSnapshot, row: OverviewRow) -> Collection[str]:
    """Return the topics that members who are online read; empty where all may count."""
    return {each.topic for each in group.subscriptions} if row["members"] else ()


def _note(unread: Unread, table: QueueTable, at: int) -> None:
    age = table.lag_ms[at]
    if age is not None:
        unread.oldest_ms = max(unread.oldest_ms, age)
    elif table.lag_ms.reason(at) is Reason.EXPIRED:
        unread.lost = True
    else:
        unread.partial = True
