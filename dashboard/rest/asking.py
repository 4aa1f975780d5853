"""Look-ups and refusals that the routes of the REST API share.

The `writes` of a feature raise errors of their own; the status of each in an answer is
defined once, in `dashboard.config.api`.
"""

from __future__ import annotations

from typing import Final, NoReturn, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet
from ninja.errors import HttpError

from dashboard.live.arrival import group_text
from dashboard.live.finding_names import near_names
from dashboard.live.name_documents import NameKind
from dashboard.live.state import LiveState, live_state
from dashboard.models import Cluster

JSON: Final = "application/json"

Row = TypeVar("Row", bound=Model)


def refuse(status: int, detail: str) -> NoReturn:
    """Refuse with a status and a sentence that names the value."""
    raise HttpError(status, detail)


def cluster_named(name: str) -> Cluster:
    """Return a configured cluster, or answer 404."""
    return the_first(
        Cluster.objects.filter(name=name, configured=True),
        f"no cluster {name!r} is configured",
    )


def the_first(rows: QuerySet[Row], otherwise: str) -> Row:
    """Return the first of some rows; if there is none, answer 404 with `otherwise`."""
    found = rows.first()
    if found is None:
        refuse(404, otherwise)
    return found


def current_state() -> LiveState:
    """Return the current documents, or answer 503 if no cache is configured."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        refuse(503, "ROCKETSCOPE_REDIS_URL is not set, so there is no current state")
    return live_state()


def group_document(cluster: str, group: str) -> bytes:
    """Return a group's document as the collector encoded it, or answer 404."""
    text = group_text(current_state(), cluster_named(cluster).name, group)
    if text is None:
        told = f"no group {group!r} was seen on cluster {cluster!r}"
        refuse(404, told + did_you_mean(cluster, "group", group))
    return text


def did_you_mean(cluster: str, kind: NameKind, name: str) -> str:
    """Return the end of a sentence about a name that is not there; may be empty."""
    near = near_names(cluster, kind, name)
    if not near:
        return ""
    named = ", ".join(
        repr(each.name) if each.kind == kind else f"the {each.kind} {each.name!r}"
        for each in near
    )
    return f"; did you mean {named}?"
