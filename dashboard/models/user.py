"""Users, each with one of three roles, and their one-time sign-in links."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """A user's rights; each role includes those before it."""

    VIEWER = "viewer", _("Viewer")
    OPERATOR = "operator", _("Operator")
    ADMIN = "admin", _("Admin")

    @property
    def rank(self) -> int:
        return list(Role).index(self)


class User(AbstractUser):
    """A person with a role, and with or without the right to see messages' bodies.

    `sees_bodies` is None where the role decides it: operators and admins see them.
    """

    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    sees_bodies = models.BooleanField(null=True, blank=True, default=None)

    @property
    def may_see_bodies(self) -> bool:
        """Whether this user may see the bodies of messages; admins always may."""
        if not self.is_active or self.allows(Role.ADMIN):
            return self.is_active
        return (
            self.allows(Role.OPERATOR) if self.sees_bodies is None else self.sees_bodies
        )

    def allows(self, role: Role) -> bool:
        """Tell whether this user may do what `role` may."""
        return self.is_active and Role(self.role).rank >= role.rank

    def must_be(self, role: Role) -> None:
        """Raise PermissionDenied unless this user may do what `role` may."""
        if not self.allows(role):
            raise PermissionDenied(
                f"{self.get_username()} is {self.role}; this needs {role}"
            )


class SignInLink(models.Model):
    """One link, used at most once; only the digest of its secret is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["expires_at"])]

    def __str__(self) -> str:
        return f"sign-in link of {self.user} until {self.expires_at:%Y-%m-%d %H:%M}"
