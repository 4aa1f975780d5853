"""The `mqadmin` lines that do the same as a move, and how they differ."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dashboard.gateway.offsets import Standing

from .plan import Plan


def mqadmin_lines(
    plan: Plan, standing: Standing, group: str, name_servers: Sequence[str]
) -> list[str]:
    """Return the lines for a shell, with the cluster's real addresses.

    A time is given in milliseconds, which no time zone can change.
    """
    wanted = plan.wanted
    ends = ["-n", ";".join(name_servers)]
    topic = ["-t", wanted.topic]
    if wanted.kind == "group" and not wanted.queues:
        groups = ["-s", wanted.source, "-d", group]
        return [_line("cloneGroupOffset", *ends, *groups, *topic)]
    if wanted.kind == "latest" and not wanted.queues:
        return [_line("skipAccumulatedMessage", *ends, "-g", group, *topic)]
    reset = ["resetOffsetByTime", *ends, "-g", group, *topic, "-s", str(wanted.at_ms)]
    if wanted.by_time:
        return [_line(*reset)]
    lines = []
    for row in sorted(
        plan.moving, key=lambda row: (row.place.broker, row.place.queue_id)
    ):
        address = standing.brokers[row.place.broker].address or row.place.broker
        queue = ["-b", address, "-q", str(row.place.queue_id), "-o", str(row.after)]
        lines.append(_line(*reset, *queue))
    return lines


def _line(*words: str) -> str:
    return shlex.join(["mqadmin", *words])
