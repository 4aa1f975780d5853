"""A browser that follows a group, in Python: `frame/live.js`, `groups/document.js`.

It begins with the document that the page has, applies each update that follows, and
loads the document anew where a number is missing or the run is another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]


class Reader:
    """Follows the updates of one group."""

    def __init__(self) -> None:
        self.state: Document | None = None
        self.loads = 0

    def load(self, stored: Mapping[str, Any] | None) -> None:
        """Take the whole document, as the page does when it opens."""
        self.loads += 1
        self.state = None if stored is None else dict(stored)

    def take(self, update: Mapping[str, Any]) -> bool:
        """Apply an update; False where the document has to be loaded anew."""
        state = self.state
        if state is None or update["run"] != state["run"]:
            return False
        if update["seq"] <= state["seq"]:
            return True
        if update["seq"] != state["seq"] + 1:
            return False
        changes = dict(update["changes"])
        queues = changes.pop("queues", None)
        self.state = {**state, **changes, "run": update["run"], "seq": update["seq"]}
        if queues is not None:
            self.state["queues"] = _changed(state["queues"], queues)
        return True


def _changed(before: list[Document], changes: Any) -> list[Document]:
    if isinstance(changes, list):
        return changes
    rows = {_key(row): row for row in before}
    for key, row in changes.items():
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
    return sorted(rows.values(), key=_order)


def _key(row: Mapping[str, Any]) -> str:
    return f"{row['topic']}|{row['broker']}|{row['queue_id']}"


def _order(row: Mapping[str, Any]) -> tuple[bytes, bytes, int]:
    """By code units, as JavaScript and Java compare texts."""
    topic, broker = (row[name].encode("utf-16-be") for name in ("topic", "broker"))
    return topic, broker, row["queue_id"]
