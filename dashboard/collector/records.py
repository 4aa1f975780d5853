"""Keeps epochs and ownership events in the database.

Called from one thread at a time. Each call writes all that it is given or nothing; what
could not be written (the database is locked, or away) is kept by the caller and passed
again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, QuerySet

from dashboard import models
from dashboard.clock.moments import as_ms, moment_of

from .epochs import Epoch, EpochBook, EpochMember, EpochTurn, Membership, WantedStrategy
from .handovers import Handover, LastOwners


@dataclass(frozen=True, slots=True)
class GroupHandover:
    """A queue's change of hands, with the group and the epoch it belongs to."""

    group: str
    epoch: int | None
    handover: Handover


def load_books(cluster_id: int) -> dict[str, EpochBook]:
    """Return the epoch books of the groups a cluster is known to have had."""
    rows = models.Epoch.objects.filter(cluster_id=cluster_id)
    last = rows.values("group").annotate(last=Max("number"))
    books = {row["group"]: EpochBook(last_number=row["last"]) for row in last}
    for row in rows.filter(ended_by__isnull=True).order_by("number"):
        books[row.group] = EpochBook(_stored(row), row.number)
    return books


def load_last_owners(cluster_id: int, since_ms: int) -> dict[str, LastOwners]:
    """Return, by group, the owners that the newest events since a time ended with."""
    events = models.OwnershipEvent.objects.filter(
        cluster_id=cluster_id, at_by__gte=moment_of(since_ms)
    )
    found: dict[str, LastOwners] = {}
    for group, topic, broker, queue_id, owners, at_by in events.order_by(
        "pk"
    ).values_list("group", "topic", "broker", "queue_id", "owners_after", "at_by"):
        at_ms = round(at_by.timestamp() * 1000)
        found.setdefault(group, {})[topic, broker, queue_id] = tuple(owners), at_ms
    return found


def load_wanted_strategies(cluster_id: int) -> dict[str, WantedStrategy]:
    """Return how the hosted groups of a cluster are to divide."""
    rows = models.ManagedGroup.objects.filter(cluster_id=cluster_id)
    return {
        name: WantedStrategy(strategy, options_text(options))
        for name, strategy, options in rows.values_list(
            "name", "strategy", "strategy_options"
        )
    }


def options_text(options: Mapping[str, Any]) -> str:
    """Return options as epochs carry them: equal options are equal texts."""
    return json.dumps(options, sort_keys=True)


@transaction.atomic
def save_turns(cluster_id: int, turns: Sequence[tuple[str, EpochTurn]]) -> None:
    """Add the epochs that began and close those that ended.

    In this order, since one that began may have ended within the same batch.
    """
    models.Epoch.objects.bulk_create(
        [_row(cluster_id, group, turn.begun) for group, turn in turns],
        ignore_conflicts=True,
    )
    for group, turn in turns:
        if turn.ended is not None:
            _close(cluster_id, group, turn.ended)


@transaction.atomic
def save_learned(cluster_id: int, epochs: Iterable[tuple[str, Epoch]]) -> None:
    """Add what was learned about epochs that still run."""
    for group, epoch in epochs:
        _of(cluster_id, group, epoch).filter(ended_by=None).update(
            members=_members(epoch.membership), options=_options(epoch.membership)
        )


@transaction.atomic
def save_ends(cluster_id: int, ends: Sequence[tuple[str, Epoch]]) -> None:
    """Close epochs of groups that are gone."""
    for group, epoch in ends:
        _close(cluster_id, group, epoch)


def save_handovers(cluster_id: int, handovers: Iterable[GroupHandover]) -> None:
    """Add ownership events."""
    models.OwnershipEvent.objects.bulk_create(
        models.OwnershipEvent(
            cluster_id=cluster_id,
            group=each.group,
            epoch=each.epoch,
            kind=each.handover.kind,
            topic=each.handover.key[0],
            broker=each.handover.key[1],
            queue_id=each.handover.key[2],
            owners_before=list(each.handover.before),
            owners_after=list(each.handover.after),
            at_after=_time_or_none(each.handover.after_ms),
            at_by=moment_of(each.handover.by_ms),
        )
        for each in handovers
    )


def _close(cluster_id: int, group: str, epoch: Epoch) -> None:
    _of(cluster_id, group, epoch).update(
        members=_members(epoch.membership),
        options=_options(epoch.membership),
        ended_after=_time_or_none(epoch.ended_after_ms),
        ended_by=_time_or_none(epoch.ended_by_ms),
        owners=[[*key, list(owners)] for key, owners in epoch.owners.items()],
    )


def _of(cluster_id: int, group: str, epoch: Epoch) -> QuerySet[models.Epoch]:
    return models.Epoch.objects.filter(
        cluster_id=cluster_id, group=group, number=epoch.number
    )


def _options(membership: Membership) -> dict[str, Any] | None:
    return None if membership.options is None else json.loads(membership.options)


def _row(cluster_id: int, group: str, epoch: Epoch) -> models.Epoch:
    return models.Epoch(
        cluster_id=cluster_id,
        group=group,
        number=epoch.number,
        members=_members(epoch.membership),
        queues=[list(key) for key in epoch.membership.queues],
        options=_options(epoch.membership),
        cause=epoch.cause,
        began_after=_time_or_none(epoch.began_after_ms),
        began_by=moment_of(epoch.began_by_ms),
    )


def _members(membership: Membership) -> list[dict[str, Any]]:
    return [
        {
            "client_id": member.client_id,
            "strategy": member.strategy,
            "subscriptions": None
            if member.subscriptions is None
            else [list(pair) for pair in member.subscriptions],
        }
        for member in membership.members
    ]


def _stored(row: models.Epoch) -> Epoch:
    members = tuple(
        EpochMember(
            member["client_id"],
            member["strategy"],
            None
            if member["subscriptions"] is None
            else tuple((topic, tags) for topic, tags in member["subscriptions"]),
        )
        for member in row.members
    )
    queues = tuple((topic, broker, number) for topic, broker, number in row.queues)
    return Epoch(
        row.number,
        Membership(
            members, queues, None if row.options is None else options_text(row.options)
        ),
        row.cause,
        None if row.began_after is None else as_ms(row.began_after),
        as_ms(row.began_by),
    )


def _time_or_none(ms: int | None) -> datetime | None:
    return None if ms is None else moment_of(ms)
