"""Rows of a group's past, as the collector writes them: the story behind documents."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from dashboard.models import Cluster, Epoch, OwnershipEvent
from tests.dashboard.documents import BROKERS, member

GROUP = "order-settlement"
MEMBERS = [member(number)["client_id"] for number in range(4)]
QUEUES = [["orders", broker, number] for broker in BROKERS for number in range(8)]


def at(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def epoch(cluster: Cluster, number: int, members: list[str], **values: Any) -> Epoch:
    fields = {"group": GROUP, "queues": QUEUES, "cause": "member_joined", **values}
    rows = [
        {"client_id": each, "strategy": "AVG", "subscriptions": None}
        for each in members
    ]
    return Epoch.objects.create(cluster=cluster, number=number, members=rows, **fields)


def event(
    cluster: Cluster, place: int, before: list[str], after: list[str], **values: Any
) -> OwnershipEvent:
    """Let the queue at that place change hands; `values` say when and what kind."""
    topic, broker, number = QUEUES[place]
    return OwnershipEvent.objects.create(
        cluster=cluster,
        topic=topic,
        broker=broker,
        queue_id=number,
        owners_before=before,
        owners_after=after,
        **{"group": GROUP, **values},
    )


def a_member_died(cluster: Cluster, now: int) -> None:
    """Write what leads to `waiting_for_locks`: a join, a double, a death."""
    one, two, three, four = MEMBERS
    joined = {"after": now - 480_000, "by": now - 479_000}
    died = {"after": now - 42_000, "by": now - 41_000}
    epoch(
        cluster,
        41,
        [one, two],
        cause="first_seen",
        began_by=at(now - 3_600_000),
        ended_after=at(joined["after"]),
        ended_by=at(joined["by"]),
    )
    epoch(
        cluster,
        42,
        MEMBERS,
        began_after=at(joined["after"]),
        began_by=at(joined["by"]),
        ended_after=at(died["after"]),
        ended_by=at(died["by"]),
    )
    epoch(
        cluster,
        43,
        [one, two, three],
        cause="member_left",
        began_after=at(died["after"]),
        began_by=at(died["by"]),
    )
    owners_41 = [one] * 8 + [two] * 8
    owners_42 = [one] * 4 + [two] * 4 + [three] * 4 + [four] * 4
    for place, (before, after) in enumerate(zip(owners_41, owners_42, strict=True)):
        if before != after:
            times = {"at_after": at(now - 479_000), "at_by": at(now - 477_500)}
            kind = {"kind": "moved", "epoch": 42}
            event(cluster, place, [before], [after], **times, **kind)
    double = {"at_after": at(now - 241_000), "at_by": at(now - 240_000)}
    event(cluster, 3, [one], [one, two], kind="double", epoch=42, **double)
    settled = {"at_after": at(now - 236_000), "at_by": at(now - 235_000)}
    event(cluster, 3, [one, two], [one], kind="settled", epoch=42, **settled)
    owners_43 = [[one]] * 6 + [[two]] * 5 + [[three]] + [[]] * 4
    for place, after in enumerate(owners_43):
        before = [owners_42[place]]
        if before != after:
            times = {"at_after": at(now - 40_500), "at_by": at(now - 38_000)}
            kind = {"kind": "moved" if after else "lost", "epoch": 43}
            event(cluster, place, before, after, **times, **kind)
