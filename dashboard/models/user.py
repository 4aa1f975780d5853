"""Users, their roles everywhere and on single clusters, and one-time sign-in links.

Theory. A user has a role everywhere, or none, and grants: roles on single clusters, or
on those groups of a cluster whose names match a pattern. What counts is the highest
role for the place at hand: the cluster and the group of the address that is asked for.
Whoever has a grant for some groups of a cluster also sees the rest of it, since groups
share topics and brokers. Where the address names no
cluster, a grant lets its user only read.

A user object that acts for a request is bound to the request's place with `at`; an API
token that it came with (`limit`) can only take rights away.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, Protocol

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import models
from django.utils.translation import gettext_lazy as _

from dashboard.wording.patterns import matches

from .fields import NameField, SealedField, StorableJSONField

NO_ROLE: Final = ""
"""The role of a user who has only grants, or nothing yet."""


class Role(models.TextChoices):
    """A user's rights; each role includes those before it."""

    VIEWER = "viewer", _("Viewer")
    OPERATOR = "operator", _("Operator")
    ADMIN = "admin", _("Admin")

    @property
    def rank(self) -> int:
        return list(Role).index(self)


@dataclass(frozen=True, slots=True)
class Place:
    """What a request is about; None for a cluster means all of them, or none."""

    cluster: str | None = None
    group: str | None = None

    def __str__(self) -> str:
        if self.group is not None:
            return f"group {self.group!r} on cluster {self.cluster!r}"
        return "" if self.cluster is None else f"cluster {self.cluster!r}"


class Limit(Protocol):
    """What takes rights away from the user for whom it acts."""

    prefix: str
    """What the audit names it by."""
    clusters: Sequence[str]
    """The names of those that can be looked at; empty for all."""

    def role_at(self, place: Place) -> Role | None:
        """Return the highest role that remains possible; None for no rights at all."""


class User(AbstractUser):
    """A person or a service, with or without the right to see messages' bodies.

    `role` counts everywhere; NO_ROLE leaves only what `grants` give. `sees_bodies` is
    None where the role decides it: operators and admins see them.
    """

    role = models.CharField(
        max_length=16, choices=Role.choices, default=Role.VIEWER, blank=True
    )
    sees_bodies = models.BooleanField(null=True, blank=True, default=None)

    place: Place = Place()
    limit: Limit | None = None

    def at(self, cluster: str | None, group: str | None = None) -> User:
        """Return the same user, bound to a place."""
        bound = copy.copy(self)
        bound.place = Place(cluster, group)
        return bound

    @property
    def role_here(self) -> Role | None:
        """The highest role for the place at hand; None for no right to be there."""
        roles = [Role(self.role)] if self.role else []
        if Role.ADMIN not in roles:
            roles += filter(None, (each.role_at(self.place) for each in self.granted))
        best = max(roles, key=lambda role: role.rank, default=None)
        if best is None or self.limit is None:
            return best
        most = self.limit.role_at(self.place)
        return None if most is None else min(best, most, key=lambda role: role.rank)

    @cached_property
    def granted(self) -> tuple[Grant, ...]:
        """The user's grants, read once."""
        return tuple(self.grants.all()) if self.pk is not None else ()

    @property
    def may_see_bodies(self) -> bool:
        """Whether this user may see the bodies of messages; admins always may."""
        if self.allows(Role.ADMIN):
            return True
        by_role = self.allows(Role.OPERATOR)
        if self.sees_bodies is None:
            return by_role
        return self.sees_bodies and self.allows(Role.VIEWER)

    @property
    def is_from_outside(self) -> bool:
        """Whether somebody else signs this user in, who then has no password here."""
        return hasattr(self, "identity")

    def allows(self, role: Role) -> bool:
        """Tell whether this user may do what `role` may, at the place at hand."""
        here = self.role_here if self.is_active else None
        return here is not None and here.rank >= role.rank

    def must_be(self, role: Role) -> None:
        """Raise PermissionDenied unless this user may do what `role` may."""
        if not self.allows(role):
            here = self.role_here or "without a role"
            where = f" ({self.place})" if self.place.cluster is not None else ""
            raise PermissionDenied(
                f"{self.get_username()} is {here}; this needs {role}{where}"
            )

    def allows_somewhere(self, role: Role) -> bool:
        """Tell whether this user may do what `role` may for some group, if not here.

        Of the cluster at hand, or of any where none is.
        """
        here = self.place.cluster
        places = [each.place for each in self.granted if here in {None, each.cluster}]
        bound = (self.at(place.cluster, place.group) for place in places)
        return self.allows(role) or any(each.allows(role) for each in bound)

    @property
    def clusters_seen(self) -> frozenset[str] | None:
        """The names of the clusters that this user may look at; None for all."""
        limited = frozenset(self.limit.clusters) if self.limit else frozenset()
        if self.role:
            return limited or None
        names = frozenset(each.cluster for each in self.granted)
        return names & limited if limited else names

    def sees(self, cluster: str, group: str | None = None) -> bool:
        """Tell whether this user may look at a cluster, or at one of its groups."""
        return self.at(cluster, group).allows(Role.VIEWER)


class Grant(models.Model):
    """A role on a cluster, or on those of its groups that match a pattern.

    `cluster` is a name, which keeps its meaning while the cluster is not configured.
    `groups` is empty for the whole cluster; in it, `*` stands for any text and `?` for
    any one character.
    """

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    role = models.CharField(max_length=16, choices=Role.choices)
    cluster = NameField(max_length=63)
    groups = NameField(max_length=255, blank=True)

    class Meta:
        ordering: ClassVar = ["cluster", "groups", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["user", "cluster", "groups"], name="one_grant_a_place"
            )
        ]

    def __str__(self) -> str:
        of_groups = f", groups {self.groups}" if self.groups else ""
        return f"{self.role} on {self.cluster}{of_groups}"

    @property
    def place(self) -> Place:
        """A place where its role counts; a pattern stands for the groups it matches."""
        return Place(self.cluster, self.groups or None)

    def role_at(self, place: Place) -> Role | None:
        """Return the role that this gives at a place; None for none."""
        if place.cluster is None:
            return Role.VIEWER
        if place.cluster != self.cluster:
            return None
        named = place.group is not None and matches(self.groups, place.group)
        return Role(self.role) if named or not self.groups else Role.VIEWER


class Identity(models.Model):
    """Whom somebody else signs in as a user: a subject of an issuer, and no one else.

    Neither a name nor an e-mail address binds anybody to a user. Such a user has no
    password, and their rights are those of their groups at the last sign-in.
    """

    user = models.OneToOneField(User, on_delete=models.CASCADE)
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["issuer", "subject"], name="one_user_a_subject"
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class SecondFactor(models.Model):
    """What proves, beside the password, that somebody is who they say.

    `secret` is shared with their app. A code counts once: none of a time step up to
    `last_step` is accepted. `recovery` has the digests of unspent recovery codes, and
    `wrong` is the number of wrong codes since the last right one.
    """

    user = models.OneToOneField(
        User, on_delete=models.CASCADE, related_name="second_factor"
    )
    secret = SealedField()
    set_up_at = models.DateTimeField()
    last_step = models.BigIntegerField()
    recovery = StorableJSONField(default=list)
    wrong = models.PositiveIntegerField(default=0)
    wrong_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"second factor of {self.user}"


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
