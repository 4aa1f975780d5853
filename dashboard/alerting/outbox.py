"""The outbox: claims messages that are due, sends them, and notes what became of them.

A message is claimed before it is sent and noted after, so one that was on its way when
its process was killed is sent once more and says so; one that was accepted and noted is
never sent again. Messages of one alert to one channel go in their order.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from dashboard.models import AlertMessage

from .texts import ENDED, Text, text_of

logger = logging.getLogger(__name__)

CLAIM: Final = timedelta(seconds=120)
"""Longer than any service is waited for."""
RETRY_SECONDS: Final = (5, 15, 60, 120, 300, 600)
"""How long to wait after each attempt; the last is repeated."""
GIVEN_UP_AFTER: Final = timedelta(hours=24)

Send = Callable[[str, Text], str]
State = AlertMessage.State


def claim_due(
    now: datetime, busy: Collection[int | None] = (), most: int = 20
) -> list[AlertMessage]:
    """Claim messages that are due, for this caller alone; none to `busy` channels."""
    earlier = AlertMessage.objects.filter(
        alert=OuterRef("alert"),
        channel=OuterRef("channel"),
        state=State.WAITING,
        pk__lt=OuterRef("pk"),
    )
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)
    due = AlertMessage.objects.filter(
        free, ~Exists(earlier), state=State.WAITING, due_at__lte=now
    )
    due = due.exclude(channel__in=[pk for pk in busy if pk is not None])
    claim = secrets.token_hex(8)
    for pk, before in due.order_by("due_at").values_list("pk", "claim")[:most]:
        # A claim that ran out was that of a sender which ended in the middle.
        ended = {"error": ENDED} if before else {}
        AlertMessage.objects.filter(free, pk=pk, state=State.WAITING).update(
            claim=claim,
            claimed_until=now + CLAIM,
            attempts=F("attempts") + 1,
            **ended,
        )
    claimed = AlertMessage.objects.filter(claim=claim, state=State.WAITING)
    return list(claimed.select_related("alert", "channel"))


def deliver(message: AlertMessage, send: Send) -> bool:
    """Send one claimed message and note the outcome; tell whether it was accepted."""
    channel = message.channel
    if channel is None or not channel.on:
        why = "the channel was removed" if channel is None else "the channel is off"
        _note(message, State.GIVEN_UP, why)
        return False
    if not channel.address:
        _note(message, State.GIVEN_UP, "the address was sealed with another secret key")
        return False
    error = send(channel.address, text_of(message, channel.language))
    if not error:
        _note(message, State.SENT, "")
        return True
    logger.warning("message=%s channel=%s: %s", message.pk, channel.name, error)
    now = timezone.now()
    if now - message.made_at > GIVEN_UP_AFTER or message.what == message.What.TEST:
        _note(message, State.GIVEN_UP, error)
        return False
    wait = RETRY_SECONDS[min(message.attempts, len(RETRY_SECONDS)) - 1]
    AlertMessage.objects.filter(pk=message.pk, claim=message.claim).update(
        error=error,
        due_at=now + timedelta(seconds=wait),
        claim="",
        claimed_until=None,
    )
    return False


def next_due() -> datetime | None:
    """Return when the next message is due, None if none waits."""
    waiting = AlertMessage.objects.filter(state=State.WAITING)
    at = Greatest("due_at", Coalesce("claimed_until", "due_at"))
    return waiting.annotate(at=at).order_by("at").values_list("at", flat=True).first()


def _note(message: AlertMessage, state: AlertMessage.State, error: str) -> None:
    AlertMessage.objects.filter(pk=message.pk, claim=message.claim).update(
        state=state,
        error=error,
        ended_at=timezone.now(),
        claim="",
        claimed_until=None,
    )
