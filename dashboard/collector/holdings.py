"""Puts the exact reports of our own fleet's members into a sweep's snapshot.

A fleet member writes each change of its queues to the cache, and repeats it every few
seconds while it lives. Such a report is exact: it replaces running info that is older
or that could not be asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from dashboard.live.holdings import Holding
from rmqcore.model.snapshot import GroupSnapshot, MemberSnapshot

VOUCHED_MS: Final = 20_000
"""Members repeat reports every 5 s; after four missed ones a report is dropped."""


def with_holdings(
    group: GroupSnapshot, holdings: Mapping[str, Holding], now_ms: int
) -> GroupSnapshot:
    """Return the group with the exact reports of its fleet members put in."""
    if not holdings:
        return group
    members = tuple(
        _with_holding(member, holdings.get(member.client_id), now_ms)
        for member in group.members
    )
    return replace(group, members=members)


def _with_holding(
    member: MemberSnapshot, holding: Holding | None, now_ms: int
) -> MemberSnapshot:
    if holding is None or now_ms - holding.vouched_ms > VOUCHED_MS:
        return member
    if member.queues is not None and (member.asked_at_ms or 0) > holding.vouched_ms:
        return member
    return replace(
        member,
        queues=holding.queues,
        asked_at_ms=holding.vouched_ms,
        answered_at_ms=holding.vouched_ms,
        reason=None,
    )
