"""The last known values of queues whose broker cannot be heard, shown with the rest.

A queue has such a value while its newest offset or its commit is unknown because nobody
answered; of a queue that was never committed, everything is known. The owners are those
last known, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from dashboard.findings.memory.trail import Moment
from dashboard.live.documents import LastKnown, Queue
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import QueueTable

from .ownership import Ownership

UNHEARD: Final = frozenset(
    {
        Reason.NO_ANSWER,
        Reason.MISSING,
        Reason.BUSY,
        Reason.DENIED,
        Reason.REFUSED,
        Reason.UNREADABLE,
    }
)


class LastValues:
    """The last known values of one group's queues, look after look."""

    __slots__ = ("_at_ms", "_known", "_ownership", "_table")

    def __init__(self, known: Mapping[QueueKey, LastKnown] | None = None) -> None:
        """Begin with what an earlier leader showed."""
        self._known: dict[QueueKey, LastKnown] = dict(known or {})
        self._table: QueueTable | None = None
        self._ownership: Ownership | None = None
        self._at_ms = 0

    def dump(self) -> list[tuple[QueueKey, LastKnown]]:
        """Return the last known values of the queues that are not known now."""
        return list(self._known.items())

    def take(
        self, table: QueueTable, ownership: Ownership, at_ms: int
    ) -> Mapping[QueueKey, LastKnown]:
        """Record one look; return the last values of queues that are not known now."""
        unheard = {table.keys[row] for row in unheard_rows(table)}
        if unheard:
            self._remember(unheard)
        self._known = {
            key: known for key, known in self._known.items() if key in unheard
        }
        self._table, self._ownership, self._at_ms = table, ownership, at_ms
        return self._known

    @property
    def rests(self) -> bool:
        """Whether everything is known now."""
        return not self._known

    def see_again(self, table: QueueTable, at_ms: int) -> None:
        """Record a look that knows all values and shows the owners of the last one."""
        self._table, self._at_ms = table, at_ms

    def _remember(self, unheard: Collection[QueueKey]) -> None:
        """Keep the previous look's values of queues that are no longer known."""
        table, ownership = self._table, self._ownership
        if table is None or ownership is None:
            return
        still = set(unheard_rows(table))
        for row, key in enumerate(table.keys):
            if key not in unheard or row in still:
                continue
            owners = ownership.rows[row]
            self._known[key] = {
                "at": self._at_ms,
                "min": table.min[row],
                "max": table.max[row],
                "committed": table.committed[row],
                "lag": table.lag[row],
                "owners": list(owners.owners),
                "owner_source": owners.source,
            }


def unheard_rows(table: QueueTable) -> list[int]:
    """Return the rows with an offset that is unknown because nobody answered."""
    reasons = table.max.reasons or table.committed.reasons
    if not reasons:
        return []
    return [
        row
        for row in range(len(table))
        if table.max.reason(row) in UNHEARD or table.committed.reason(row) in UNHEARD
    ]


def shown_last(queues: Iterable[Queue], at_ms: int) -> dict[QueueKey, LastKnown]:
    """Return the known or last known values of a stored document's queues."""
    found: dict[QueueKey, LastKnown] = {}
    for queue in queues:
        key = queue["topic"], queue["broker"], queue["queue_id"]
        last = queue.get("last")
        if last is not None:
            found[key] = last
        elif queue["max"] is not None:
            found[key] = {
                "at": at_ms,
                "min": queue["min"],
                "max": queue["max"],
                "committed": queue["committed"],
                "lag": queue["lag"],
                "owners": queue["owners"],
                "owner_source": queue["owner_source"],
            }
    return found


def dumped_last(dumped: Iterable[Any]) -> dict[QueueKey, LastKnown]:
    """Return what `LastValues.dump` returned, from JSON."""
    return {
        (topic, broker, queue_id): known for (topic, broker, queue_id), known in dumped
    }


def moment_last(
    moment: Moment, owners: Mapping[QueueKey, Sequence[str]]
) -> dict[QueueKey, LastKnown]:
    """Return values from an earlier leader's sweep, with the last reported owners."""
    table = moment.queues
    return {
        key: {
            "at": moment.at_ms,
            "min": None,
            "max": newest,
            "committed": table.committed[row],
            "lag": table.lag[row],
            "owners": list(owners.get(key, ())),
            "owner_source": "reported" if owners.get(key) else None,
        }
        for row, (key, newest) in enumerate(zip(table.keys, table.max, strict=True))
        if newest is not None
    }


def newest_last(
    *sources: Mapping[QueueKey, LastKnown],
) -> dict[QueueKey, LastKnown]:
    """Return each queue's newest known values; of equally new ones, the first."""
    found: dict[QueueKey, LastKnown] = {}
    for source in sources:
        for key, known in source.items():
            if key not in found or known["at"] > found[key]["at"]:
                found[key] = known
    return found
