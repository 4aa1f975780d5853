"""Tokens for programs that call the REST API."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .fields import NameField, StorableJSONField
from .user import Place, Role


class Tokens(models.QuerySet["Token"]):
    def alive(self, now: datetime) -> Tokens:
        """Keep those that can be used: not revoked, not expired, of an active user."""
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gt=now),
            revoked_at=None,
            user__is_active=True,
        )


class Token(models.Model):
    """A secret that acts for its user, with these rights or fewer.

    Only the digest of the secret is kept; `prefix` is its beginning, by which people
    recognise it. `clusters` are names; empty means all that the user may see.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tokens"
    )
    name = NameField(max_length=60)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Role.choices)
    clusters = StorableJSONField(default=list, blank=True)
    made_at = models.DateTimeField(auto_now_add=True)
    made_by_name = NameField(max_length=150)
    expires_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = Tokens.as_manager()

    class Meta:
        ordering: ClassVar = ["-made_at", "-pk"]

    def __str__(self) -> str:
        return f"token {self.name} of {self.user}"

    def role_at(self, place: Place) -> Role | None:
        """Return the highest role that it allows at a place; None for none.

        Where the address names no cluster, a token for some clusters only reads.
        """
        if not self.clusters:
            return Role(self.role)
        if place.cluster is None:
            return Role.VIEWER
        return Role(self.role) if place.cluster in self.clusters else None
