"""A comparison as JSON: numbers in columns, each id once, everything else by index.

`clients` lists each client id once, `queues` each queue before and after the edits. In
a row, `owners` has an entry for each queue: the index of its owner, a list of indices
if it has several, -1 for nobody, null if the row does not know the queue. `moved`,
`gained` and `lost` list queues: their owners before are in the row "NOW", those after
in the row itself. The present owners of queues in `unheard` are not known, so these
queues are in none of the lists. `full` says that each queue is consumed by exactly one
process. Loads of the queues in `assumed_of` are the mean of others, as their rates are
not known. Unknown numbers are null; a drain time that never ends is "never".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rmqcore.allocation import NEVER, Scores
from rmqcore.model import sorted_client_ids, sorted_queues

from .comparison import NOW, Comparison
from .edits import Note
from .query import to_query
from .rows import Figures, MemberFigures, Row

NOBODY: Final = -1
NEVER_WORD: Final = "never"


def comparison_document(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as values that JSON can carry."""
    before, after = comparison.before, comparison.after
    columns = comparison.columns
    table = _Tables(comparison)
    return {
        "cluster": before.cluster,
        "group": before.group,
        "taken_at": before.taken_at_ms,
        "query": to_query(comparison.scenario),
        "complete": before.complete,
        "missing": [
            {"broker": each.broker, "state": each.state, "since": each.since_ms}
            for each in before.missing
        ],
        "strategy": comparison.scenario.strategy or before.strategy,
        "clients": list(table.clients),
        "members": {
            "now": [table.clients[each] for each in before.members],
            "then": [table.clients[each] for each in sorted_client_ids(after.members)],
        },
        "queues": table.queue_rows(comparison),
        "loads": {
            "unit": "rate" if columns.weights.is_rate else "queues",
            "assumed": len(columns.weights.assumed),
            "assumed_of": table.places_of(columns.weights.assumed),
        },
        "member_rate": {
            "value": after.member_rate,
            "source": _rate_source(comparison),
        },
        "notes": [_note(note) for note in comparison.notes],
        "rows": [table.row(row) for row in comparison.rows],
    }


class _Tables:
    """Client ids and queues of a comparison by index, and rows written with them."""

    __slots__ = ("_now", "_then", "clients", "queues")

    def __init__(self, comparison: Comparison) -> None:
        before, after = comparison.before, comparison.after
        ids = {*before.members, *after.members}
        ids.update(*(state.owners for state in before.queues))
        self.clients = {each: at for at, each in enumerate(sorted_client_ids(ids))}
        both = {state.queue for state in (*before.queues, *after.queues)}
        self.queues = sorted_queues(both)
        index = {queue: at for at, queue in enumerate(self.queues)}
        self._now = [index[state.queue] for state in before.queues]
        self._then = [index[state.queue] for state in after.queues]

    def places_of(self, positions: Iterable[int]) -> list[int]:
        """Return the queues at some positions of the edited group."""
        return [self._then[at] for at in positions]

    def queue_rows(self, comparison: Comparison) -> list[list[Any]]:
        """Return topic, broker, id, lag and load; load is null for dropped queues."""
        rows: list[list[Any]] = [
            [queue.topic, queue.broker_name, queue.queue_id, None, None]
            for queue in self.queues
        ]
        for at, state in zip(self._now, comparison.before.queues, strict=True):
            rows[at][3] = state.lag
        loads = comparison.columns.weights.loads
        for at, lag, load in zip(
            self._then, comparison.columns.lags, loads, strict=True
        ):
            rows[at][3:] = lag, load
        return rows

    def row(self, row: Row) -> dict[str, Any]:
        """Return a row; its numbers are left out if there is only a reason."""
        written: dict[str, Any] = {
            "key": row.key,
            "strategy": row.strategy,
            "reason": None if row.reason is None else _note(row.reason),
            "assumed": dict(row.assumed),
        }
        if row.figures is not None:
            places = self._now if row.key == NOW else self._then
            written["owners"] = self._owners(row.figures, places)
            written["moved"] = [places[at] for at in row.figures.moved]
            written["gained"] = [places[at] for at in row.figures.gained]
            written["lost"] = [places[at] for at in row.figures.lost]
            written["unheard"] = sorted(places[at] for at in row.figures.unheard)
            written.update(_figures(row.figures))
            idle = row.figures.idle
            written["idle"] = None if idle is None else self._indices(idle)
            written["members"] = self._members(row.figures.members)
        return written

    def _owners(
        self, figures: Figures, places: Sequence[int]
    ) -> list[int | list[int] | None]:
        owners: list[int | list[int] | None] = [None] * len(self.queues)
        for position, holders in enumerate(figures.owners):
            at = places[position]
            if position in figures.unknown:
                continue
            if len(holders) == 1:
                owners[at] = self.clients[holders[0]]
            else:
                owners[at] = self._indices(holders) if holders else NOBODY
        return owners

    def _members(self, members: Sequence[MemberFigures]) -> dict[str, list[Any]]:
        return {
            "client": [self.clients[each.client_id] for each in members],
            "queues": [each.queues for each in members],
            "load": [each.load for each in members],
            "load_assumed": [each.load_assumed for each in members],
            "lag": [each.lag for each in members],
            "lag_partial": [each.lag_partial for each in members],
            "drain_s": [_seconds(each.drain_s) for each in members],
        }

    def _indices(self, client_ids: tuple[str, ...]) -> list[int]:
        return [self.clients[client_id] for client_id in client_ids]


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "unassigned": figures.unassigned,
        "twice": figures.twice,
        "full": figures.full,
        "by_queues": _scores(figures.by_queues),
        "by_load": _scores(figures.by_load),
        "by_lag": None if figures.by_lag is None else _scores(figures.by_lag),
        "worst_drain_s": _seconds(figures.worst_drain_s),
        "remainder": {
            "worst": figures.remainder.worst,
            "least_possible": figures.remainder.least_possible,
        },
    }


def _rate_source(comparison: Comparison) -> str | None:
    if comparison.scenario.member_rate is not None:
        return "entered"
    return None if comparison.after.member_rate is None else "observed"


def _note(note: Note) -> Mapping[str, Any]:
    return {"code": note.code, "params": dict(note.params)}


def _scores(scores: Scores) -> dict[str, float | int | None]:
    return {
        "max_over_mean": scores.max_over_mean,
        "variation": scores.variation,
        "gini": scores.gini,
        "idle": scores.idle,
    }


def _seconds(time: float | None) -> float | str | None:
    return NEVER_WORD if time == NEVER else time
