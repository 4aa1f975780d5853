"""Give and take roles on single clusters and groups; all of it audited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from dashboard.models import Cluster, Grant, Role, User
from dashboard.models.audit import record

MOST_GRANTS: Final = 200
"""Of one user; they are read with each request that they may matter to."""


class GrantRefusedError(Exception):
    """A grant that makes no sense; the message names the value."""


@transaction.atomic
def give(user: User, *, role: Role, cluster: str, groups: str = "", by: User) -> Grant:
    """Give a role on a cluster, or on its groups that match a pattern.

    A role that the user already has for the same groups is replaced. Raise
    GrantRefusedError for an unknown cluster and beyond MOST_GRANTS.
    """
    groups = groups.strip()
    if not Cluster.objects.filter(name=cluster, configured=True).exists():
        raise GrantRefusedError(
            _("No cluster “%(name)s” is configured.") % {"name": cluster[:60]}
        )
    if groups and role is Role.ADMIN:
        raise GrantRefusedError(
            _("Admins administer a whole cluster; leave the groups empty.")
        )
    User.objects.select_for_update().get(pk=user.pk)
    known = user.grants.filter(cluster=cluster, groups=groups).first()
    if known is None and user.grants.count() >= MOST_GRANTS:
        raise GrantRefusedError(
            _("%(user)s already has %(limit)s roles on clusters, which is the limit.")
            % {"user": user.get_username(), "limit": MOST_GRANTS}
        )
    grant = known or Grant(user=user, cluster=cluster, groups=groups)
    before = grant.role
    grant.role = role
    grant.save()
    if before != role:
        _record(by, "grant.give", grant)
    return grant


@transaction.atomic
def take(grant: Grant, *, by: User | None) -> None:
    """Take a role away."""
    gone, _rows = Grant.objects.filter(pk=grant.pk).delete()
    if gone:
        _record(by, "grant.take", grant)


def replace_all(user: User, wanted: Mapping[tuple[str, str], Role]) -> None:
    """Give a user exactly these roles, by cluster and pattern, and take all others.

    They come from the settings, which may name clusters that are attached later.
    """
    for grant in user.grants.all():
        place = grant.cluster, grant.groups
        if place not in wanted:
            take(grant, by=None)
        elif grant.role != wanted[place]:
            grant.role = wanted[place]
            grant.save(update_fields=["role"])
            _record(None, "grant.give", grant)
    held = set(user.grants.values_list("cluster", "groups"))
    for (cluster, groups), role in wanted.items():
        if (cluster, groups) not in held:
            grant = user.grants.create(role=role, cluster=cluster, groups=groups)
            _record(None, "grant.give", grant)


def _record(by: User | None, action: str, grant: Grant) -> None:
    record(
        by,
        action,
        target=grant.user.get_username(),
        cluster=grant.cluster,
        details={"role": grant.role, "groups": grant.groups},
    )
