"""A timeline as JSON, for the REST API."""

from __future__ import annotations

from typing import Any

from dashboard.clock.moments import as_ms

from .alerts import Alerted
from .holdings import Moment
from .reads import Timeline


def timeline_document(timeline: Timeline, alerted: Alerted) -> dict[str, Any]:
    """Return a timeline as JSON: lanes by queue, epochs, events and alerts."""
    return {
        "kind": timeline.kind,
        "since": timeline.window.since,
        "until": timeline.window.until,
        "lanes": [
            {
                "queue": list(lane.key),
                "known": lane.known,
                "held": [
                    {
                        "owner": piece.owner or None,
                        "connection": piece.connection,
                        "begin": pair(piece.begin),
                        "end": None if piece.end is None else pair(piece.end),
                    }
                    for piece in lane.pieces
                ],
                "double": [list(pair) for pair in lane.doubles],
                "unknown": [list(pair) for pair in lane.unknown],
            }
            for lane in timeline.lanes
        ],
        "epochs": [
            {
                "number": row.epoch.number,
                "cause": row.epoch.cause,
                "began": pair(row.epoch.began),
                "ended": None if row.epoch.ended is None else pair(row.epoch.ended),
                "members": list(row.epoch.members),
                "queues": len(row.epoch.queues),
                "joined": list(row.joined),
                "left": list(row.left),
            }
            for row in timeline.epochs
        ],
        "events": [
            {
                "queue": list(row.event.key),
                "kind": row.event.kind,
                "at": pair(row.event.at),
                "before": list(row.event.before),
                "after": list(row.event.after),
                "cause": row.why or None,
            }
            for row in timeline.events
        ],
        "events_left_out": timeline.hidden_events,
        "epochs_left_out": timeline.epochs_left_out,
        "alerts": [
            {
                "id": each.alert_id,
                "rule": each.alert.rule_name,
                "severity": each.alert.severity,
                "opened": as_ms(each.opened_at),
                "closed": None if each.closed_at is None else as_ms(each.closed_at),
                "acknowledged_by": each.alert.acknowledged_by_name,
            }
            for each in alerted.subjects
        ],
        "alerts_left_out": alerted.not_listed,
        "cut": timeline.cut,
    }


def pair(moment: Moment) -> list[int]:
    """Return when something happened: not before the first, not after the second."""
    return [moment.after, moment.by]
