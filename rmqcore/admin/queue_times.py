"""The two columns that cost requests of their own: pulled, and lag in time.

Pulled: the offset that a broker has handed out to a group. Releases since 5.x have it
in the offset table; for others it is read from consume statistics (208), where 0 means
that the broker does not count it.

Lag in time: the age, by the broker's clock, of the first message not consumed (303).
The broker computes it for queues that can be written, and its answer is meaningless
where the committed offset is below its oldest message; such rows get a reason. Where
lag is 0 there is no such message, and the age is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.protocol.bodies import ConsumeStats, ConsumeTimeSpan

from .sweep import BrokerAnswers, Question

Row = int | Reason

_NO_LONGER: Final = 1_000_000_000_000
"""Only a missing store time results in a delay (ms) this long: the message is gone."""


class QueueTimes:
    """Makes both columns for all groups of one sweep."""

    def __init__(self, answers: Sequence[BrokerAnswers], question: Question) -> None:
        self._answers = {answer.name: answer for answer in answers}
        self._question = question
        self._delays = _delays_by_group(answers)

    def pulled(self, group: str, keys: Sequence[QueueKey]) -> Column:
        """Return the offsets that were handed out to a group."""
        if not self._question.pulled:
            return Column.unknown(len(keys), Reason.NOT_ASKED)
        tables = {
            name: _pulled_by(answer, group) for name, answer in self._answers.items()
        }
        # Brokers keep this for physical queues; a logical one is none of theirs.
        return Column.of(
            _pulled_row(tables.get(key[1], Reason.NOT_LISTED), key) for key in keys
        )

    def lag_ms(
        self,
        group: str,
        keys: Sequence[QueueKey],
        oldest: Column,
        committed: Column,
        lag: Column,
    ) -> Column:
        """Return the age of the first message that a group has not consumed."""
        if not self._question.time_lag:
            return Column.unknown(len(keys), Reason.NOT_ASKED)
        return Column.of(self._lag_ms_rows(group, keys, oldest, committed, lag))

    def _lag_ms_rows(
        self,
        group: str,
        keys: Sequence[QueueKey],
        oldest: Column,
        committed: Column,
        lag: Column,
    ) -> Iterable[Row]:
        delays = self._delays.get(group, {})
        for row, key in enumerate(keys):
            unknown = lag.reason(row)
            first, done = oldest[row], committed[row]
            if unknown is not None:
                yield unknown
            elif lag[row] == 0:
                yield 0
            elif first is not None and done is not None and done < first:
                yield Reason.EXPIRED
            else:
                delay = delays.get(key)
                yield self._no_delay(group, key) if delay is None else delay

    def _no_delay(self, group: str, key: QueueKey) -> Reason:
        answer = self._answers.get(key[1])
        if answer is None:
            return Reason.NOT_LISTED
        spans = answer.spans.get((group, key[0]), answer.reason)
        return spans if isinstance(spans, Reason) else Reason.NOT_LISTED


def delays_of(
    broker: str, topic: str, spans: Iterable[ConsumeTimeSpan]
) -> Iterable[tuple[QueueKey, Row]]:
    """Yield the ages of first unconsumed messages that a broker reports, by queue."""
    for span in spans:
        gone = span.delay_time > _NO_LONGER
        delay = Reason.EXPIRED if gone else max(span.delay_time, 0)
        yield (topic, broker, span.message_queue.queue_id), delay


def _delays_by_group(
    answers: Iterable[BrokerAnswers],
) -> dict[str, dict[QueueKey, Row]]:
    groups: dict[str, dict[QueueKey, Row]] = {}
    for answer in answers:
        for (group, topic), spans in answer.spans.items():
            if isinstance(spans, Reason):
                continue
            told = delays_of(answer.name, topic, spans)
            groups.setdefault(group, {}).update(told)
    return groups


def _pulled_by(
    answer: BrokerAnswers, group: str
) -> dict[tuple[str, int], int] | Reason:
    if answer.offsets is not None and answer.offsets.pulled is not None:
        return {
            (topic, queue_id): offset
            for topic, flat in answer.offsets.pulled.get(group, {}).items()
            for queue_id, offset in zip(flat[::2], flat[1::2], strict=True)
        }
    stats = answer.consumed.get(group, answer.reason_of("offsets"))
    if not isinstance(stats, ConsumeStats):
        return stats
    return {
        (key.topic, key.queue_id): offset.pull_offset
        for key, offset in stats.offset_table
        if offset.pull_offset > 0
    }


def _pulled_row(table: dict[tuple[str, int], int] | Reason, key: QueueKey) -> Row:
    if isinstance(table, Reason):
        return table
    return table.get((key[0], key[2]), Reason.NOT_LISTED)
