"""The record of what was done, by whom and why. Rows are only ever added."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

from .fields import NameField, StorableJSONField, StorableTextField, storable
from .user import User

logger = logging.getLogger(__name__)

SYSTEM: Final = "rocketscope"
"""The actor's name when the program itself acted."""

STRANGER: Final = ""
"""The actor's name when nobody was signed in; no user can have it."""

SIGN_IN: Final = "sign_in"
SIGN_OUT: Final = "sign_out"
USE_LINK: Final = "sign_in_link.use"
USE_CODE: Final = "second_factor.use"
USE_RECOVERY_CODE: Final = "second_factor.recover"
SIGN_INS: Final = (SIGN_IN, SIGN_OUT, USE_LINK, USE_CODE, USE_RECOVERY_CODE)


class AuditEntries(models.QuerySet["AuditEntry"]):
    def search(self, text: str, actions: Collection[str] = ()) -> AuditEntries:
        """Keep those with `text` in a name, the reason or the address, or an action."""
        if not text:
            return self
        text = storable(text)
        return self.filter(
            Q(action__in=actions)
            | Q(actor_name__icontains=text)
            | Q(action__icontains=text)
            | Q(cluster__icontains=text)
            | Q(target__icontains=text)
            | Q(reason__icontains=text)
            | Q(address__icontains=text)
        )

    def of_kind(self, kind: str) -> AuditEntries:
        """Keep the sign-ins or the changes; anything else keeps both."""
        sign_ins = Q(action__in=SIGN_INS)
        if kind == "sign-ins":
            return self.filter(sign_ins)
        return self.exclude(sign_ins) if kind == "changes" else self


class AuditEntry(models.Model):
    """One write that somebody asked for, or a sign-in that succeeded or failed.

    Names are kept beside the user, so that an entry outlives the account. `action` is a
    dotted word such as `member.add`, and `target` is what it was done to. Sign-ins have
    the `address` they came from; repeated failures are one entry with their number.
    """

    class Outcome(models.TextChoices):
        DONE = "done"
        REFUSED = "refused"
        FAILED = "failed"

    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    actor_name = NameField(max_length=150)
    action = models.CharField(max_length=64)
    cluster = NameField(max_length=63, blank=True)
    target = NameField(max_length=255, blank=True)
    reason = StorableTextField(blank=True)
    outcome = models.CharField(
        max_length=16, choices=Outcome.choices, default=Outcome.DONE
    )
    details = StorableJSONField(default=dict)
    address = models.CharField(max_length=64, blank=True)
    times = models.PositiveIntegerField(default=1)

    objects = AuditEntries.as_manager()

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.action} {self.target}"

    @property
    def details_text(self) -> str:
        """The details on one line; empty when there are none."""
        return json.dumps(self.details, ensure_ascii=False) if self.details else ""


def record(
    actor: User | AnonymousUser | None,
    action: str,
    *,
    target: str = "",
    cluster: str = "",
    reason: str = "",
    outcome: AuditEntry.Outcome = AuditEntry.Outcome.DONE,
    details: Mapping[str, Any] | None = None,
    address: str = "",
) -> AuditEntry:
    """Add one entry; without a user the actor is the program itself.

    Call it in the transaction that holds the write, so that neither exists without
    the other. `details` must be JSON; never put secrets into it.
    """
    known = actor if isinstance(actor, User) else None
    by_token = {"by_token": known.limit.prefix} if known and known.limit else {}
    entry = AuditEntry.objects.create(
        at=timezone.now(),
        actor=known,
        actor_name=known.get_username() if known else SYSTEM,
        action=action,
        cluster=cluster,
        target=target[:255],
        reason=reason,
        outcome=outcome,
        details={**(details or {}), **by_token},
        address=address[:64],
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
