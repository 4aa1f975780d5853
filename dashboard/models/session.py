"""Sessions: one row for each browser that is signed in, under the digest of its key."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.conf import settings
from django.db import models

from .user import User

MOST_BROWSER_CHARS: Final = 300


class Sessions(models.QuerySet["Session"]):
    def alive(self, now: datetime) -> Sessions:
        """Keep those that are neither too old nor unused for too long."""
        return self.filter(expire_date__gt=now, last_seen_at__gt=now - idle_limit())

    def over(self, now: datetime) -> Sessions:
        """Keep those that `alive` leaves out."""
        idle = models.Q(last_seen_at__lte=now - idle_limit())
        return self.filter(models.Q(expire_date__lte=now) | idle)


class Session(models.Model):
    """What a browser's key stands for. Strangers may have one, without a user.

    The first three columns have the names that Django's session store expects.
    """

    session_key = models.CharField(max_length=64, primary_key=True)
    session_data = models.TextField()
    expire_date = models.DateTimeField(db_index=True)
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE)
    signed_in_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(db_index=True)
    address = models.CharField(max_length=64, blank=True)
    browser = models.CharField(max_length=MOST_BROWSER_CHARS, blank=True)

    objects = Sessions.as_manager()

    class Meta:
        ordering: ClassVar = ["-last_seen_at", "session_key"]

    def __str__(self) -> str:
        return f"session of {self.user or 'a stranger'} from {self.address}"


def idle_limit() -> timedelta:
    idle_days, _days = settings.ROCKETSCOPE_SESSION_DAYS
    return timedelta(days=idle_days)
