"""What a reader of one document needs to have the next: the body of an update.

Top-level members that differ are replaced whole, except the queues: of those only the
rows that differ are sent, under the key topic|broker|id; a queue that is gone is null.
Rows new to the reader go where (topic, broker, id) puts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dashboard.live.documents import GroupState, Queue, queue_key

IDENTITY: Final = frozenset({"run", "seq", "cluster", "group"})


def changes_between(before: GroupState, after: GroupState) -> dict[str, Any]:
    """Return the changes that turn `before` into `after`, numbers and names apart."""
    changes: dict[str, Any] = {
        name: value
        for name, value in after.items()
        if name not in IDENTITY and name != "queues" and before.get(name) != value
    }
    queues = _queue_changes(_by_key(before), _by_key(after))
    if queues:
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


def _by_key(document: GroupState) -> dict[str, Queue]:
    return {queue_key(queue): queue for queue in document["queues"]}


def _queue_changes(
    before: dict[str, Queue], after: dict[str, Queue]
) -> dict[str, Queue | None]:
    changed: dict[str, Queue | None] = {
        key: queue for key, queue in after.items() if before.get(key) != queue
    }
    changed.update(dict.fromkeys(before.keys() - after.keys()))
    return changed
