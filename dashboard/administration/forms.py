"""Reads a wish from the fields of a page's form, and gives the form its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from dashboard.gateway.configured import MASKED, Kind, Standing
from dashboard.models import Cluster

from .fields import FIELDS, Field
from .plans import Action, Wish
from .reads import change_made, undo_of
from .refusals import AdministrationError

ACTIONS = ("Pub", "Sub", "Create", "Update", "Delete", "Get", "List", "All")
"""What a rule may allow or deny."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field with its present value, which is empty where brokers differ."""

    field: Field
    value: str
    differing: str


def wish_of(
    cluster: Cluster, kind: Kind, name: str, action: Action, fields: QueryDict
) -> Wish:
    """Return the wish that a form describes; raise AdministrationError."""
    undo = fields.get("undo", "")
    if undo:
        return _undone(cluster, undo)
    return Wish(
        kind,
        name.strip(),
        action,
        scope=fields.get("in", ""),
        places=frozenset(filter(None, fields.getlist("broker"))),
        changes=_changes(kind, fields),
        like=fields.get("like", ""),
        clean=fields.get("clean", "true") != "false",
        retries=fields.get("retries", "true") != "false",
    )


def form_fields(
    kind: Kind, standings: Sequence[Standing], fields: QueryDict
) -> list[FormField]:
    """Return the fields with what was entered, else with what brokers have."""
    return [_form_field(field, standings, fields) for field in FIELDS[kind]]


# Private, in order of first use


def _undone(cluster: Cluster, undo: str) -> Wish:
    number = int(undo) if undo.isascii() and undo.isdigit() and len(undo) < 16 else 0
    wish = undo_of(change_made(cluster, number))
    if wish is None:
        raise AdministrationError(_("That change cannot be undone."))
    return wish


def _changes(kind: Kind, fields: QueryDict) -> dict[str, str]:
    """Return the values to set. A field left empty stays as it is on each broker."""
    found = {
        field.key: entered
        for field in FIELDS[kind]
        if (entered := fields.get(field.key, "").strip())
    }
    if kind == "broker" and (setting := fields.get("setting", "").strip()):
        found[setting] = fields.get("value", "")
    if kind == "rule":
        found |= _rule(fields)
    return found


def _rule(fields: QueryDict) -> dict[str, str]:
    if gone := fields.get("remove", ""):
        return {gone: ""}
    resource = fields.get("resource", "").strip()
    actions = [each for each in fields.getlist("actions") if each in ACTIONS]
    if not resource:
        return {}
    if ":" not in resource or " " in resource:
        raise AdministrationError(
            _("“%(name)s”: a resource is written like Topic:orders or Group:*.")
            % {"name": resource}
        )
    if not actions:
        raise AdministrationError(_("A rule needs at least one action."))
    decision = "DENY" if fields.get("decision") == "DENY" else "ALLOW"
    sources = ",".join(fields.get("sources", "").replace(",", " ").split())
    text = f"{decision} {','.join(actions)}"
    return {f"Custom {resource}": f"{text} from {sources}" if sources else text}


def _form_field(
    field: Field, standings: Sequence[Standing], fields: QueryDict
) -> FormField:
    tables = [each.values for each in standings if each.values is not None]
    values = list(dict.fromkeys(table.get(field.key, "") for table in tables))
    differing = ", ".join(v or "—" for v in values) if len(values) > 1 else ""
    if field.key in fields:
        return FormField(field, fields.get(field.key, ""), differing)
    if not tables:
        return FormField(field, field.default, "")
    value = values[0] if len(values) == 1 and values[0] != MASKED else ""
    return FormField(field, value, differing)
