"""Saved views over REST."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.models import SavedView
from dashboard.rest.paging import paged

router = Router()


class SavedViewOut(Schema):
    """A saved view; `path` and `query` are the address that it was saved from."""

    pk: int
    table: str = Field(description="the list, whatever the cluster")
    name: str
    path: str
    query: str
    shared: bool
    owner: str


@router.get("/views", response={200: list[SavedViewOut]})
@paged
def saved_views(request: HttpRequest) -> list[dict[str, Any]]:
    """List one's own views and those that others share."""
    views = SavedView.objects.seen_by(user_of(request)).select_related("owner")
    return [
        {
            "pk": each.pk,
            "table": each.table,
            "name": each.name,
            "path": each.path,
            "query": each.query,
            "shared": each.shared,
            "owner": each.owner.get_username(),
        }
        for each in views
    ]
