"""The body of an update: the changes that turn one document into the next.

Top-level members that differ are replaced whole, except the queues, of which only the
rows that differ are sent, under the key topic|broker|id. A queue or a member that the
new document does not have is null. Rows that are new to the reader are sorted in by
(topic, broker, id). Names may contain a bar themselves: if two queues have the same
key, all queues are sent, as a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dashboard.live.documents import GroupState, Queue, queue_key

IDENTITY: Final = frozenset({"run", "seq", "cluster", "group"})


def changes_between(before: GroupState, after: GroupState) -> dict[str, Any]:
    """Return the changes from `before` to `after`, except numbers and names."""
    changes: dict[str, Any] = {
        name: value
        for name, value in after.items()
        if name not in IDENTITY and name != "queues" and before.get(name) != value
    }
    changes.update(dict.fromkeys(before.keys() - after.keys()))
    queues = _queue_changes(before["queues"], after["queues"])
    if queues is not None:
        changes["queues"] = queues
    return changes


def update_message(after: GroupState, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message that tells readers of `changes`."""
    return {
        "type": "update",
        "cluster": after["cluster"],
        "group": after["group"],
        "run": after["run"],
        "seq": after["seq"],
        "changes": dict(changes),
    }


def _queue_changes(
    before: list[Queue], after: list[Queue]
) -> dict[str, Queue | None] | list[Queue] | None:
    """Return what differs between two lists of queues, None when nothing does."""
    if before == after:
        return None
    old, new = _by_key(before), _by_key(after)
    if len(old) < len(before) or len(new) < len(after):
        return after
    changed: dict[str, Queue | None] = {
        key: queue for key, queue in new.items() if old.get(key) != queue
    }
    changed.update(dict.fromkeys(old.keys() - new.keys()))
    return changed


def _by_key(queues: list[Queue]) -> dict[str, Queue]:
    return {queue_key(queue): queue for queue in queues}
