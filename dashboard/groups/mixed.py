"""Since when members of a group report different strategies, and the cause."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.urls import reverse
from django.utils import timezone

from dashboard.live.documents import GroupState
from dashboard.models import Epoch, GroupChange

LOOKED_BACK: Final = 50
RECENT: Final = timedelta(hours=1)


def mixed_since_ms(state: GroupState) -> int | None:
    """Return when the running mixture began, as far as epochs know; else None."""
    if not _mixed([member["strategy"] for member in state["members"]]):
        return None
    since: int | None = None
    epochs = Epoch.objects.filter(
        cluster__name=state["cluster"], group=state["group"]
    ).order_by("-began_by")
    for epoch in epochs[:LOOKED_BACK]:
        if not _mixed([member.get("strategy") for member in epoch.members]):
            break
        since = round(epoch.began_by.timestamp() * 1000)
    return since


def recent_change(state: GroupState) -> dict[str, Any] | None:
    """Return the change that a group may be following now, for the page's script."""
    if not state["managed"]:
        return None
    cluster, group = state["cluster"], state["group"]
    change = GroupChange.objects.filter(
        group__cluster__name=cluster,
        group__name=group,
        at__gt=timezone.now() - RECENT,
    ).first()
    if change is None:
        return None
    return {
        "at": round(change.at.timestamp() * 1000),
        "strategy": change.after["strategy"],
        "url": reverse("group_change", args=[cluster, group, change.pk]),
    }


def _mixed(strategies: list[str | None]) -> bool:
    """Tell whether several are reported; members that report none do not count."""
    return len({name.partition("-")[0] for name in strategies if name}) > 1
