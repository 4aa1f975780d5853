"""Record who signed in and out, and who tried to, with the address they came from.

Anybody may try, so refused attempts are counted rather than listed. For the length of
one pause of the throttle there is one entry for each name and address, and at most
`MOST_ENTRIES` in all; further names are counted together in an entry without a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from dashboard.models import AuditEntry
from dashboard.models.audit import STRANGER, record
from dashboard.models.counting import count_alone

from .permissions import user_of
from .throttle import PAUSE_SECONDS

MOST_ENTRIES: Final = 50
MOST_NAME_CHARS: Final = 150
PAUSE: Final = timedelta(seconds=PAUSE_SECONDS)


def address_of(request: HttpRequest) -> str:
    """Return the peer's address, or what a trusted proxy said it is."""
    return str(request.META.get("REMOTE_ADDR", ""))


def record_sign(
    action: str, request: HttpRequest, details: Mapping[str, str] | None = None
) -> None:
    """Record that the user of a request has just signed in or is signing out."""
    user = user_of(request)
    record(
        user,
        action,
        target=user.get_username(),
        details=details,
        address=address_of(request),
    )


@transaction.atomic
def record_refusal(action: str, name: str, address: str) -> None:
    """Count an attempt that was refused, under the name as typed, cut to 150."""
    count_alone("refused attempts")
    recent = AuditEntry.objects.filter(
        actor_name=STRANGER, action=action, at__gt=timezone.now() - PAUSE
    )
    name, address = name[:MOST_NAME_CHARS], address[:64]
    known = recent.filter(target=name, address=address).first()
    if known is None and recent.count() >= MOST_ENTRIES:
        name = address = ""
        known = recent.filter(target=name, address=address).first()
    if known is not None:
        AuditEntry.objects.filter(pk=known.pk).update(times=F("times") + 1)
        return
    AuditEntry.objects.create(
        at=timezone.now(),
        actor_name=STRANGER,
        action=action,
        target=name,
        address=address,
        outcome=AuditEntry.Outcome.REFUSED,
    )
