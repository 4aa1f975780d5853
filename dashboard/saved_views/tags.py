"""The menu of saved views, which stands beside every table of `frame.tables`."""

from __future__ import annotations

from typing import Any

from django import template
from django.http import HttpRequest

from dashboard.frame.tables import TablePage
from dashboard.models import Role, User

from .reads import offered
from .writes import MAX_NAME

register = template.Library()


@register.inclusion_tag("saved_views/menu.html", takes_context=True)
def saved_views_menu(context: dict[str, Any], page: TablePage[Any]) -> dict[str, Any]:
    """Draw the menu; without somebody signed in there is none."""
    request = context.get("request")
    if not isinstance(request, HttpRequest) or not isinstance(request.user, User):
        return {}
    query = page.query.url().removeprefix("?")
    found = offered(request.user, request.path, query)
    return {
        "request": request,
        "csrf_token": context.get("csrf_token"),
        "views": found,
        "here": next((each.name for each in found if each.here), ""),
        "path": request.path,
        "query": query,
        "may_share": request.user.allows(Role.OPERATOR),
        "longest_name": MAX_NAME,
    }
