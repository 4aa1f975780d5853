"""What has become of a move, queue by queue, as a look at the group shows it.

Members that are online go on from where they were put, so an offset soon differs from
what was asked for. An offset that is back where it was, or past that, is shown as such:
either the members have caught up, or they have committed over the move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["stands", "going_on", "past", "back", "none", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One queue of a move: before, asked, as read back at once, and now."""

    broker: str
    queue_id: int
    before: int | None
    asked: int
    stood: int | None
    now: int | None
    state: State
    problem: str


def outcomes_of(
    rows: Sequence[Mapping[str, Any]], now: Mapping[str, int | None]
) -> list[Outcome]:
    """Return how each queue stands; `now` lacks the queues that did not answer.

    It has None for a queue of which nothing is committed.
    """
    return [_outcome(row, now) for row in rows]


def counted(outcomes: Sequence[Outcome]) -> Mapping[str, int]:
    """Return how many queues are in each state."""
    return Counter(each.state for each in outcomes)


def _outcome(row: Mapping[str, Any], now: Mapping[str, int | None]) -> Outcome:
    key = f"{row['broker']}/{row['queue_id']}"
    at = now.get(key)
    state = _state(row["before"], row["asked"], at) if key in now else "unknown"
    return Outcome(
        broker=row["broker"],
        queue_id=row["queue_id"],
        before=row["before"],
        asked=row["asked"],
        stood=row["stood"],
        now=at,
        state="failed" if row["problem"] else state,
        problem=row["problem"],
    )


def _state(before: int | None, asked: int, now: int | None) -> State:
    if now is None:
        return "none"
    if now == asked:
        return "stands"
    if now < asked:
        return "back"
    if before is not None and asked < before <= now:
        return "past"
    return "going_on"
