"""Saves, renames, shares and deletes views of lists.

Everybody may keep views for themselves. Operators may share their own with all users,
which is audited, as is every change of a shared one. An admin may delete any shared
view.
"""

from __future__ import annotations

from typing import Final

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from dashboard.models import Role, SavedView, User
from dashboard.models.audit import record
from dashboard.models.counting import count_alone

from .reads import canonical, table_at

MAX_NAME: Final = 60
MAX_QUERY: Final = 2_000
MAX_PATH: Final = 1_000
MAX_VIEWS: Final = 100
"""Of one user, over all lists."""


class SavedViewError(ValueError):
    """A view that cannot be kept; the message names the value and the limit."""


@transaction.atomic
def save_view(
    actor: User, *, path: str, query: str, name: str, shared: bool
) -> SavedView:
    """Keep the query of a page's address; a view of the same name is replaced."""
    name, query, table = _name(name), _query(query), _table(path)
    mine = SavedView.objects.filter(owner=actor)
    count_alone("views")
    known = mine.select_for_update().filter(table=table, name=name).first()
    if known is None and mine.count() >= MAX_VIEWS:
        raise SavedViewError(
            _("You already keep %(limit)s views, which is the limit.")
            % {"limit": MAX_VIEWS}
        )
    view = known or SavedView(owner=actor, table=table, name=name)
    was_shared = view.shared
    view.path, view.query, view.shared = path, query, shared
    if shared or was_shared:
        _allow_sharing(actor)
    view.save()
    if shared or was_shared:
        _audit(actor, "view.save", view)
    return view


@transaction.atomic
def rename_view(actor: User, view: SavedView, name: str) -> None:
    """Give one's own view another name."""
    _own(actor, view)
    before, view.name = view.name, _name(name)
    others = SavedView.objects.filter(owner=actor, table=view.table, name=view.name)
    if others.exclude(pk=view.pk).exists():
        raise SavedViewError(
            _("You already keep a view “%(name)s” of this list.") % {"name": view.name}
        )
    view.save(update_fields=["name", "changed_at"])
    if view.shared:
        _audit(actor, "view.rename", view, before=before)


@transaction.atomic
def share_view(actor: User, view: SavedView, *, shared: bool) -> None:
    """Let everybody open one's own view, or nobody else."""
    _own(actor, view)
    _allow_sharing(actor)
    if view.shared == shared:
        return
    view.shared = shared
    view.save(update_fields=["shared", "changed_at"])
    _audit(actor, "view.share" if shared else "view.unshare", view)


@transaction.atomic
def delete_view(actor: User, view: SavedView) -> None:
    """Delete one's own view; an admin may delete any that is shared."""
    if not (view.shared and actor.allows(Role.ADMIN)):
        _own(actor, view)
    if view.shared:
        _audit(actor, "view.delete", view)
    view.delete()


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= MAX_NAME:
        raise SavedViewError(
            _("A name has 1 to %(limit)s characters, this one has %(length)s.")
            % {"limit": MAX_NAME, "length": len(name)}
        )
    return name


def _query(query: str) -> str:
    try:
        kept = canonical(query)
    except ValueError as error:
        raise SavedViewError(str(error)) from None
    if len(kept) > MAX_QUERY:
        raise SavedViewError(
            _("The view has %(length)s characters, at most %(limit)s are kept.")
            % {"length": len(kept), "limit": MAX_QUERY}
        )
    return kept


def _table(path: str) -> str:
    table = table_at(path) if len(path) <= MAX_PATH else ""
    if not table:
        raise SavedViewError(
            _("“%(path)s” is no page with a list.") % {"path": path[:MAX_NAME]}
        )
    return table


def _own(actor: User, view: SavedView) -> None:
    if view.owner_id != actor.pk:
        raise PermissionDenied(_("This view belongs to somebody else."))


def _allow_sharing(actor: User) -> None:
    if not actor.allows(Role.OPERATOR):
        raise PermissionDenied(_("Operators and admins can share views."))


def _audit(actor: User, action: str, view: SavedView, *, before: str = "") -> None:
    details = {"table": view.table, "query": view.query, "shared": view.shared}
    if before:
        details["before"] = before
    record(actor, action, target=view.name, details=details)
