"""Who may change what about alerts, where the place is a pattern of group names.

Whoever may look at a cluster sees all of its alerts, as of all of its groups. To
acknowledge and to silence takes the role of an operator for the groups concerned, and
so does a rule about named groups; other rules need an admin of the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from dashboard.accounts.permissions import lacks
from dashboard.models import Alert, AlertRule, Role, User


def may(user: User, role: Role, cluster: str, groups: str = "") -> bool:
    """Tell whether a user has a role for all groups that a pattern can match.

    An empty cluster stands for every cluster, an empty pattern for every group.
    """
    everywhere = user.at(cluster or None)
    if everywhere.allows(role):
        return True
    return any(
        user.at(each.cluster, each.groups).allows(role)
        for each in user.granted
        if cluster and each.cluster == cluster and lies_in(groups or "*", each.groups)
    )


def lies_in(pattern: str, wider: str) -> bool:
    """Tell whether whatever matches a pattern matches another one too.

    May say no where it is so in fact, but never yes where it is not: of `pattern`, a
    star is only covered by a star, and everything else by itself, `?` or a star.
    """
    covers = {"*": ".*", "?": r"[^*]"}
    form = "".join(covers.get(sign) or re.escape(sign) for sign in wider)
    return re.fullmatch(form, pattern, re.DOTALL) is not None


def may_act(user: User, alert: Alert, names: Iterable[str]) -> bool:
    """Tell whether a user may acknowledge an alert about these groups or brokers."""
    if alert.kind == AlertRule.Kind.BROKER:
        return user.at(alert.cluster).allows(Role.OPERATOR)
    return all(user.at(alert.cluster, name).allows(Role.OPERATOR) for name in names)


def may_rule(user: User, cluster: str, kind: str, groups: str) -> bool:
    """Tell whether a user may make, change or delete such a rule."""
    if may(user, Role.ADMIN, cluster):
        return True
    named = bool(groups) and kind != AlertRule.Kind.BROKER
    return bool(cluster) and named and may(user, Role.OPERATOR, cluster, groups)


def may_rule_somewhere(user: User) -> bool:
    """Tell whether a user may make some rule in the cluster at hand."""
    return user.allows_somewhere(Role.OPERATOR)


def cluster_choices(user: User, cluster: str) -> list[tuple[str, str]]:
    """Return the choices of a form's field: this cluster and, for admins, every one."""
    every = [("", _("every cluster"))] if user.at(None).allows(Role.ADMIN) else []
    return [(cluster, cluster), *every]


def must(allowed: bool, user: User, role: Role = Role.OPERATOR) -> None:
    """Raise PermissionDenied, in a sentence, unless something is allowed."""
    if not allowed:
        raise PermissionDenied(lacks(user, role))
