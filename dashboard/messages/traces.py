"""Traces that clients write about a message, decoded and laid out on a line of time.

A client with tracing on sends records to a trace topic, one line of fields each:
`Pub` when it has sent a message, `SubBefore` and `SubAfter` around each try to consume
it. `SubAfter` says whether the try succeeded and is joined to its `SubBefore` by the
request's id. Times are by the clocks of the clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

_FIELD: Final = "\x01"
_RECORD: Final = "\x02"
_PUB_FIELDS: Final = 13
_BEFORE_FIELDS: Final = 8
_AFTER_FIELDS: Final = 6
_WIDTH: Final = 1000.0
_SHORTEST: Final = 4.0

Kind = Literal["send", "consume"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One send, or one try of a group to consume, in ms since the epoch.

    `took_ms` and `success` are None for a try whose end was not traced.
    """

    kind: Kind
    group: str
    at_ms: int
    attempt: int = 0
    took_ms: int | None = None
    success: bool | None = None
    client: str = ""


@dataclass(frozen=True, slots=True)
class TraceBar:
    """A step with its place in a drawing that is 1000 wide."""

    step: TraceStep
    x: float
    width: float
    y: int


@dataclass(frozen=True, slots=True)
class TraceLine:
    """All steps on one axis; `ticks` are pairs of place and ms from the beginning."""

    bars: Sequence[TraceBar]
    ticks: Sequence[tuple[float, int]]
    begins_ms: int
    height: int


def steps_of(bodies: Iterable[bytes], message_id: str) -> list[TraceStep]:
    """Return the steps of one message, in order; records of others are left out."""
    records = [each for body in bodies for each in _records(body)]
    ends = {
        record[1]: record
        for record in records
        if record[0] == "SubAfter"
        and len(record) >= _AFTER_FIELDS
        and record[2] == message_id
    }
    steps = [step for record in records if (step := _step(record, message_id, ends))]
    return sorted(set(steps), key=lambda step: (step.at_ms, step.group))


def line_of(steps: Sequence[TraceStep]) -> TraceLine | None:
    """Lay steps out on one axis; None where there are none."""
    if not steps:
        return None
    begins = min(step.at_ms for step in steps)
    ends = max(step.at_ms + (step.took_ms or 0) for step in steps)
    span = max(1, ends - begins)
    bars = []
    for row, step in enumerate(steps):
        x = (step.at_ms - begins) / span * _WIDTH
        width = max(_SHORTEST, (step.took_ms or 0) / span * _WIDTH)
        bars.append(TraceBar(step, min(x, _WIDTH - _SHORTEST), width, row * 28))
    ticks = [(part * _WIDTH / 4, round(span * part / 4)) for part in (0, 2, 4)]
    return TraceLine(bars, ticks, begins, len(steps) * 28)


# Private, in order of first use


def _records(body: bytes) -> Iterator[list[str]]:
    for text in body.decode(errors="replace").split(_RECORD):
        fields = text.split(_FIELD)
        if len(fields) > 1:
            yield fields


def _step(
    fields: Sequence[str], message_id: str, ends: Mapping[str, Sequence[str]]
) -> TraceStep | None:
    """Return the step that a record begins; None for records of another kind."""
    try:
        if fields[0] == "Pub" and len(fields) >= _PUB_FIELDS:
            return _sent(fields) if fields[5] == message_id else None
        if fields[0] == "SubBefore" and len(fields) >= _BEFORE_FIELDS:
            return _tried(fields, ends) if fields[5] == message_id else None
    except ValueError:
        return None
    return None


def _sent(fields: Sequence[str]) -> TraceStep:
    success = fields[12] if len(fields) == _PUB_FIELDS else fields[13]
    return TraceStep(
        "send",
        fields[3],
        int(fields[1]),
        took_ms=int(fields[10]),
        success=success == "true",
        client=fields[14] if len(fields) > 14 else "",
    )


def _tried(fields: Sequence[str], ends: Mapping[str, Sequence[str]]) -> TraceStep:
    end = ends.get(fields[4])
    return TraceStep(
        "consume",
        fields[3],
        int(fields[1]),
        attempt=int(fields[6]),
        took_ms=int(end[3]) if end else None,
        success=end[4] == "true" if end else None,
        client=fields[8] if len(fields) > 8 else "",
    )
