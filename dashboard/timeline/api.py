"""The REST route of the rebalance timeline."""

from __future__ import annotations

import time
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from dashboard.live.reading import read_group
from dashboard.rest.asking import cluster_named, refuse

from .alerts import alerts_within
from .document import pair, timeline_document
from .reads import read_moves, read_timeline

router = Router()

Interval = list[int]
"""[not before, not after], ms since the epoch."""


class HeldOut(Schema):
    """A queue held by `owner`, or by nobody if null; `end` is null while it lasts.

    `connection` numbers the processes with one client id, from 0.
    """

    owner: str | None
    connection: int
    begin: Interval
    end: Interval | None


class LaneOut(Schema):
    """One queue; `known` is false if no member reported who owns it.

    In the intervals of `double` several members hold it; in those of `unknown` nobody
    can say who does.
    """

    queue: list[str | int]
    known: bool
    held: list[HeldOut]
    double: list[Interval]
    unknown: list[Interval]


class EpochOut(Schema):
    """A span in which members and queues stay the same."""

    number: int
    cause: str
    began: Interval
    ended: Interval | None
    members: list[str]
    queues: int
    joined: list[str]
    left: list[str]


class EventOut(Schema):
    """A change of a queue's owners, and its cause as far as it is known."""

    queue: list[str | int]
    kind: Literal["moved", "taken", "lost", "double", "settled"]
    at: Interval
    before: list[str]
    after: list[str]
    cause: str | None


class TimelineAlertOut(Schema):
    """An alert about the group; `closed` is null while it is open for the group."""

    id: int
    rule: str
    severity: Literal["crit", "warn"]
    opened: int = Field(description="ms since the epoch, as `closed`")
    closed: int | None
    acknowledged_by: str = Field(description="empty: by nobody")


class TimelineOut(Schema):
    """Who held which queue when.

    Of each kind the newest come first: 1,000 epochs at most, 200 events, and 100 of the
    alerts that were open within the span. What is over is counted; `cut` says that the
    lanes lack the oldest events or epochs too. Only groups whose queues have single
    owners have lanes and events; `kind` is null for a group that is gone.
    """

    kind: str | None
    since: int
    until: int
    lanes: list[LaneOut]
    epochs: list[EpochOut]
    events: list[EventOut]
    events_left_out: int
    epochs_left_out: int
    alerts: list[TimelineAlertOut]
    alerts_left_out: int
    cut: bool


class TimelineQuery(Schema):
    """The span: the minutes that end at `until` (ms since the epoch), or now."""

    minutes: int = Field(15, ge=1, le=1440)
    until: int | None = Field(None, ge=0, le=10**14)


class MoveOut(Schema):
    """A change of the owners of the queue that was asked for."""

    kind: Literal["moved", "taken", "lost", "double", "settled"]
    at: Interval
    before: list[str]
    after: list[str]


class MovesOut(Schema):
    """The last changes of one queue's owners, newest first, 10 at most.

    `events_left_out` counts the older ones that are kept. `since` is when the last of
    its present owners took it, null if nobody saw that.
    """

    events: list[MoveOut]
    events_left_out: int
    since: Interval | None


class MovesQuery(Schema):
    """One queue."""

    topic: str = Field(max_length=255)
    broker: str = Field(max_length=255)
    queue_id: int = Field(ge=0, le=2**31 - 1)


@router.get(
    "/clusters/{cluster}/groups/{group:group}/moves",
    response={200: MovesOut},
)
def moves(
    request: HttpRequest, cluster: str, group: str, query: Query[MovesQuery]
) -> dict[str, Any]:
    """Return the last changes of a queue's owners; none for one that never moved."""
    key = query.topic, query.broker, query.queue_id
    state = read_group(cluster, group).document
    now = int(time.time() * 1000)
    found = read_moves(cluster_named(cluster), group, key, state, now=now)
    return {
        "events": [
            {
                "kind": event.kind,
                "at": pair(event.at),
                "before": list(event.before),
                "after": list(event.after),
            }
            for event in found.events
        ],
        "events_left_out": found.left_out,
        "since": None if found.since is None else pair(found.since),
    }


@router.get(
    "/clusters/{cluster}/groups/{group:group}/timeline",
    response={200: TimelineOut},
)
def timeline(
    request: HttpRequest, cluster: str, group: str, query: Query[TimelineQuery]
) -> dict[str, Any]:
    """Return the timeline of a group, also of one that is gone."""
    found = read_timeline(
        cluster_named(cluster),
        group,
        read_group(cluster, group).document,
        now=int(time.time() * 1000),
        minutes=query.minutes,
        until=query.until,
    )
    alerted = alerts_within(cluster, group, found.window)
    if not (found.epochs or found.events or found.lanes or alerted.all):
        refuse(404, f"nothing is recorded of group {group!r} in that span")
    return timeline_document(found, alerted)
