"""A topic's queues on one broker, or its logical ones, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rmqcore.model.columns import Column, Reason
from rmqcore.model.mapping import LogicalPiece


@dataclass(frozen=True, slots=True)
class Segment:
    """A topic's queues on one broker.

    Those of a static topic have `pieces`, and the broker name of logical queues.
    """

    topic: str
    broker: str
    queue_ids: list[int]
    min: Column
    max: Column
    pieces: tuple[tuple[LogicalPiece, ...], ...] | None = None


def unlisted(segment: Segment, queue_ids: Iterable[int]) -> Segment:
    """Return a segment with rows added for queues that the broker does not list."""
    known = dict(zip(segment.queue_ids, range(len(segment.queue_ids)), strict=True))
    merged = sorted(known.keys() | set(queue_ids))

    def extended(column: Column) -> Column:
        return Column.of(
            Reason.NOT_LISTED if row is None else _row(column, row)
            for row in map(known.get, merged)
        )

    return replace(
        segment,
        queue_ids=merged,
        min=extended(segment.min),
        max=extended(segment.max),
    )


def _row(column: Column, row: int) -> int | Reason:
    reason = column.reason(row)
    return column.values[row] if reason is None else reason


def empty_segment(topic: str, broker: str) -> Segment:
    """Return the segment of a topic that a broker does not have."""
    nothing = Column(array("q"))
    return Segment(topic, broker, [], nothing, nothing)
