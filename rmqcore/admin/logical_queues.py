"""Static topics in a snapshot: one row for each logical queue, as their clients see it.

Theory. Brokers tell everything of physical queues: ends, and committed offsets. A
logical queue is made of some of them (see `model.mapping`), so its rows are computed as
its leader would: it begins where the oldest piece that has a beginning does, and ends
with the newest. A group's progress is what it committed on the newest piece that it
committed on; lag is what is left there and in later pieces. Offsets between two pieces
belong to no message, so lag is less than newest minus committed.

What a broker that does not answer would have said is unknown, with its reason. A queue
without pieces, which nobody has, is not listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from rmqcore.model.columns import Column, Reason
from rmqcore.model.mapping import (
    LogicalPiece,
    LogicQueueMappingItem,
    TopicQueueMapping,
    pieces_of,
)

from .segments import Segment
from .sweep import BrokerAnswers
from .tables import TopicOffsets

Row = int | Reason
Tables = dict[str, dict[int, int]]


def logical_segments(
    name: str,
    answers: Sequence[BrokerAnswers],
    mappings: Sequence[TopicQueueMapping],
) -> list[Segment]:
    """Return the queues of a static topic, a segment for each logical broker name."""
    ends = _Ends(name, answers)
    segments = []
    queues = pieces_of(mappings).items()
    for broker, of_scope in groupby(queues, key=lambda each: each[0][0]):
        listed = list(of_scope)
        pieces = tuple(tuple(ends.piece(item) for item in items) for _, items in listed)
        segments.append(
            Segment(
                name,
                broker,
                [queue_id for (_, queue_id), _ in listed],
                Column.of(map(ends.oldest, pieces)),
                Column.of(map(ends.newest, pieces)),
                pieces,
            )
        )
    return segments


class _Ends:
    """The ends of a topic's physical queues, as far as brokers told them."""

    def __init__(self, topic: str, answers: Sequence[BrokerAnswers]) -> None:
        self._reasons: dict[str, Reason] = {}
        self._ends: dict[str, dict[int, tuple[int, int]]] = {}
        for answer in answers:
            stats = answer.stats.get(topic, answer.reason_of("topics"))
            if isinstance(stats, TopicOffsets):
                each = zip(stats.queue_ids, stats.min, stats.max, strict=True)
                self._ends[answer.name] = {queue: (a, b) for queue, a, b in each}
            else:
                self._reasons[answer.name] = stats

    def piece(self, item: LogicQueueMappingItem) -> LogicalPiece:
        ends = self._ends.get(item.broker_name, {}).get(item.queue_id)
        low, high = (None, None) if ends is None else ends
        return LogicalPiece(item, low, high)

    def oldest(self, pieces: Sequence[LogicalPiece]) -> Row:
        first = next((each for each in pieces if each.begin is not None), None)
        if first is None:
            return Reason.NOT_LISTED
        if first.low is None:
            return self._reason(first)
        end = first.physical_end
        low = first.low if end is None else min(first.low, end)
        return first.item.logical(low) or 0

    def newest(self, pieces: Sequence[LogicalPiece]) -> Row:
        last = next((each for each in reversed(pieces) if each.begin is not None), None)
        if last is None:
            return Reason.NOT_LISTED
        if last.high is None:
            return self._reason(last)
        return last.item.logical(last.high) or 0

    def _reason(self, piece: LogicalPiece) -> Reason:
        return self._reasons.get(piece.item.broker_name, Reason.NOT_LISTED)


def logical_progress(
    group: str, segment: Segment, answers: Mapping[str, BrokerAnswers]
) -> list[tuple[Row, Row]]:
    """Return a group's committed offset of each row of a segment, and the lag."""
    tables: Tables = {}
    for name, answer in answers.items():
        if answer.offsets is not None:
            of_group = answer.offsets.committed.get(group, {})
            flat = of_group.get(segment.topic, [])
            tables[name] = dict(zip(flat[::2], flat[1::2], strict=True))
    return [_progress(pieces, tables, answers) for pieces in segment.pieces or ()]


def _progress(
    pieces: Sequence[LogicalPiece],
    tables: Tables,
    answers: Mapping[str, BrokerAnswers],
) -> tuple[Row, Row]:
    for at in reversed(range(len(pieces))):
        item = pieces[at].item
        table = tables.get(item.broker_name)
        if table is None:
            answer = answers.get(item.broker_name)
            reason = answer.reason_of("offsets") if answer else Reason.NOT_LISTED
            return reason, reason
        done = table.get(item.queue_id)
        if done is None:
            continue
        committed = item.logical(done)
        if committed is None:
            return Reason.NOT_LISTED, Reason.NOT_LISTED
        return committed, _left(pieces[at:], done, answers)
    return Reason.NOTHING_COMMITTED, Reason.NOTHING_COMMITTED


def _left(
    pieces: Sequence[LogicalPiece], done: int, answers: Mapping[str, BrokerAnswers]
) -> Row:
    """Return how many messages are behind `done`, which is of the first piece."""
    left = 0
    for piece in pieces:
        end, begin = piece.physical_end, max(done, piece.item.start_offset)
        if end is None:
            answer = answers.get(piece.item.broker_name)
            return answer.reason_of("topics") if answer else Reason.NOT_LISTED
        left += max(0, end - begin)
        done = 0
    return left
