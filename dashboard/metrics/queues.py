"""The figures of single queues, for the groups that a scrape names.

A cluster may have a hundred thousand queues, each of them several series, so they are
given only for named groups, and for whole groups until `MOST_QUEUES` is reached.
`rocketscope_queue_groups_left_out` counts the groups that were asked for and did not
fit, by cluster. On a cluster with many groups the collector keeps no document of groups
that nobody looks at, so a scrape asks it for them:
`rocketscope_queue_groups_awaited` counts those that are not there yet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from dashboard.live.documents import GroupState, Queue
from dashboard.live.state import LiveState

from .exposition import Family, labelled, seconds
from .groups import Number, current_rows, is_old

MOST_QUEUES: Final = 10_000
MOST_PATTERNS: Final = 100
_READ_AT_ONCE: Final = 50


class RequestError(Exception):
    """A scrape asks for what there is not; the message names it and what is allowed."""

    def __init__(self, sentence: str, *, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """The names of groups that a scrape asks for; `*` and `?` stand for any text."""

    patterns: tuple[str, ...]

    @classmethod
    def of(cls, patterns: Sequence[str]) -> QueueRequest:
        """Check what a scrape gave; raise `RequestError` for none or too many."""
        if not 1 <= len(patterns) <= MOST_PATTERNS or not all(patterns):
            raise RequestError(
                f"{len(patterns)} values of group=, allowed are 1 to {MOST_PATTERNS} "
                "that are not empty: names of groups, or patterns such as orders-*"
            )
        return cls(tuple(patterns))

    def names(self, group: str) -> bool:
        """Tell whether a group is asked for."""
        return any(fnmatchcase(group, pattern) for pattern in self.patterns)


GAUGES: Final[dict[str, tuple[str, Callable[[Queue], Number]]]] = {
    "lag_messages": (
        "Messages of the queue that the group has not consumed yet.",
        lambda queue: queue["lag"],
    ),
    "oldest_message_age_seconds": (
        "Age of the oldest message of the queue not consumed yet.",
        lambda queue: seconds(queue["lag_ms"]),
    ),
    "committed_offset": (
        "Offset up to which the group has consumed the queue.",
        lambda queue: queue["committed"],
    ),
    "end_offset": (
        "Offset that the next message of the queue will have.",
        lambda queue: queue["max"],
    ),
    "in_messages_per_second": (
        "Messages that arrive in the queue each second.",
        lambda queue: queue["rate_in"],
    ),
    "out_messages_per_second": (
        "Messages of the queue that the group consumes each second.",
        lambda queue: queue["rate_out"],
    ),
}


def queue_figures(
    state: LiveState, clusters: Sequence[str], wanted: QueueRequest
) -> Iterator[Family]:
    """Return the figures of the queues of the groups that are asked for."""
    families = {
        name: Family(f"rocketscope_queue_{name}", text)
        for name, (text, _value_of) in GAUGES.items()
    }
    owner = Family(
        "rocketscope_queue_owner",
        "1 for each member that owns the queue, as far as known.",
    )
    left_out = Family(
        "rocketscope_queue_groups_left_out",
        f"Groups asked for whose queues did not fit into {MOST_QUEUES} queues.",
    )
    awaited = Family(
        "rocketscope_queue_groups_awaited",
        "Groups asked for whose queues will be known after the next sweep.",
    )
    room = MOST_QUEUES
    for cluster in clusters:
        rows = current_rows(state, cluster)
        found = [row for row in rows if wanted.names(row["group"])]
        fitting: list[str] = []
        for row in found:
            if row["queues"] <= room:
                room -= row["queues"]
                fitting.append(row["group"])
        left_out.add(labelled(cluster=cluster), len(found) - len(fitting))
        state.want_documents(cluster, fitting, time.time())
        missing = len(fitting)
        for document in _documents(state, cluster, fitting):
            missing -= 1
            _add(document, families, owner)
        awaited.add(labelled(cluster=cluster), missing)
    yield from (*families.values(), owner, left_out, awaited)


def _documents(
    state: LiveState, cluster: str, groups: Sequence[str]
) -> Iterator[GroupState]:
    for start in range(0, len(groups), _READ_AT_ONCE):
        for document in state.groups(cluster, groups[start : start + _READ_AT_ONCE]):
            if document is not None and not is_old(document["taken_at"]):
                yield document


def _add(document: GroupState, families: Mapping[str, Family], owner: Family) -> None:
    for queue in document["queues"]:
        place = {
            "cluster": document["cluster"],
            "group": document["group"],
            "topic": queue["topic"],
            "broker": queue["broker"],
            "queue": str(queue["queue_id"]),
        }
        labels = labelled(**place)
        for name, (_text, value_of) in GAUGES.items():
            value = value_of(queue)
            if value is not None:
                families[name].add(labels, value)
        source = queue["owner_source"]
        if source is not None:
            for client_id in queue["owners"]:
                owner.add(labelled(**place, client_id=client_id, source=source), 1)
