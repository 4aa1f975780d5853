"""Hosted groups and members in the database, for the tests of this room."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard.models import Cluster, ManagedGroup, ManagedMember

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def group(members: int = 1, cluster: str = "east", **fields: Any) -> ManagedGroup:
    """Add a hosted group with members that are free."""
    row, _made = Cluster.objects.get_or_create(name=cluster)
    fields.setdefault("name", "billing")
    fields.setdefault("topics", [{"topic": "orders", "expression": "*"}])
    made = ManagedGroup.objects.create(cluster=row, members_wanted=members, **fields)
    for number in range(1, members + 1):
        ManagedMember.objects.create(group=made, number=number)
    return made


def member(number: int = 1) -> ManagedMember:
    return ManagedMember.objects.select_related("group__cluster").get(number=number)
