"""Saves, shares, replaces and deletes scenarios by name; all of that is audited.

Operators may save scenarios; the user who saved one may replace, share or delete it,
and so may an admin. Everybody who is signed in may open shared ones.
"""

from __future__ import annotations

from typing import Final

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dashboard.models import (
    Cluster,
    Role,
    SavedScenario,
    User,
)
from dashboard.models.audit import record
from dashboard.models.counting import count_alone
from rmqcore.errors import ArgumentError

from .reads import canonical_query, read_scenario

MAX_NAME: Final = 120
MAX_SCENARIOS: Final = 200
"""Of one user for one group; a longer list helps nobody."""
MAX_OF_ALL_GROUPS: Final = 2_000
"""Of one user; a group need not exist, so that groups alone would be no limit."""


class ScenarioError(ValueError):
    """A scenario that cannot be saved; the message names the value and the limit."""


@transaction.atomic
def save_scenario(
    actor: User,
    *,
    cluster: Cluster,
    group: str,
    name: str,
    query: str,
    shared: bool,
) -> SavedScenario:
    """Save a scenario; one of the same name for the same group is replaced."""
    actor.must_be(Role.OPERATOR)
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise ScenarioError(
            _("A name has 1 to %(limit)s characters, this one has %(length)s.")
            % {"limit": MAX_NAME, "length": len(name)}
        )
    try:
        scenario, show = read_scenario(query)
    except ArgumentError as error:
        raise ScenarioError(str(error)) from error
    mine = SavedScenario.objects.filter(cluster=cluster, group=group, owner=actor)
    known = mine.select_for_update().filter(name=name).first()
    count_alone("scenarios")
    if known is None and mine.count() >= MAX_SCENARIOS:
        raise ScenarioError(
            _("You already keep %(limit)s scenarios of this group, which is the limit.")
            % {"limit": MAX_SCENARIOS}
        )
    of_all = SavedScenario.objects.filter(owner=actor).count()
    if known is None and of_all >= MAX_OF_ALL_GROUPS:
        raise ScenarioError(
            _("You already keep %(limit)s scenarios, which is the limit.")
            % {"limit": MAX_OF_ALL_GROUPS}
        )
    saved = known or SavedScenario(cluster=cluster, group=group, owner=actor, name=name)
    saved.owner_name = actor.get_username()
    saved.query, saved.shared = canonical_query(scenario), shared
    saved.show = "" if show == scenario.strategy else show
    try:
        with transaction.atomic():
            saved.save()
    except IntegrityError as error:
        raise ScenarioError(
            _("“%(name)s” was just saved by you.") % {"name": name}
        ) from error
    _audit(actor, "scenario.save", saved)
    return saved


@transaction.atomic
def share_scenario(actor: User, saved: SavedScenario, *, shared: bool) -> None:
    """Let everybody open a scenario, or only its owner."""
    _allow_change(actor, saved)
    if saved.shared == shared:
        return
    saved.shared = shared
    saved.save(update_fields=["shared", "changed_at"])
    _audit(actor, "scenario.share" if shared else "scenario.unshare", saved)


@transaction.atomic
def delete_scenario(actor: User, saved: SavedScenario) -> None:
    """Delete a scenario; changes that were made from it stay."""
    _allow_change(actor, saved)
    _audit(actor, "scenario.delete", saved)
    saved.delete()


def _allow_change(actor: User, saved: SavedScenario) -> None:
    if not saved.may_change(actor):
        raise PermissionDenied(
            f"{saved.name!r} belongs to {saved.owner_name}; "
            f"only they and a user of role {Role.ADMIN} may change it"
        )


def _audit(actor: User, action: str, saved: SavedScenario) -> None:
    record(
        actor,
        action,
        target=saved.group or saved.name,
        cluster=saved.cluster.name,
        details={"scenario": saved.name, "shared": saved.shared},
    )
