"""The audit trail: each service that writes records what it did, here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from dashboard.models import AuditEntry, User

logger = logging.getLogger(__name__)

SYSTEM = "rocketscope"


def record(
    actor: User | AnonymousUser | None,
    action: str,
    *,
    target: str = "",
    cluster: str = "",
    reason: str = "",
    outcome: AuditEntry.Outcome = AuditEntry.Outcome.DONE,
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Add one entry; without a user the actor is the program itself.

    Call it in the transaction that holds the write, so that neither exists without
    the other. `details` must be JSON; never put secrets into it.
    """
    known = actor if isinstance(actor, User) else None
    entry = AuditEntry.objects.create(
        at=timezone.now(),
        actor=known,
        actor_name=known.get_username() if known else SYSTEM,
        action=action,
        cluster=cluster,
        target=target[:255],
        reason=reason,
        outcome=outcome,
        details=dict(details or {}),
    )
    logger.info(
        "audit actor=%s action=%s cluster=%s target=%s outcome=%s",
        entry.actor_name,
        action,
        cluster,
        entry.target,
        outcome,
    )
    return entry
