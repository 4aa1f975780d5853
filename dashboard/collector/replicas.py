"""What a master says of the slaves that follow it (907), as documents have it."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.gateway.broker_runtime import Told
from dashboard.live.broker_documents import Follower, Replicas


def replicas_of(told: Told) -> tuple[Replicas | None, str | None]:
    """Return the slaves of a process, or None and why they are not known.

    A process that was not asked, or is no master any more, has neither.
    """
    status = told.replicas
    if status is None:
        return None, told.replicas_why
    if not status.master:
        return None, None
    followers = [_follower(each) for each in status.ha_connection_info]
    followers.sort(key=lambda each: each["address"])
    return {"in_sync": status.in_sync_slave_nums, "followers": followers}, None


def _follower(told: Mapping[str, object]) -> Follower:
    """Read one connection; before its first confirmation a slave stands at -1."""
    end, behind = told.get("slaveAckOffset"), told.get("diff")
    confirmed = isinstance(end, int) and end >= 0
    return {
        "address": str(told.get("addr", "")),
        "behind_bytes": max(0, behind)
        if confirmed and isinstance(behind, int)
        else None,
        "in_sync": told.get("inSync") is True,
    }
