"""Filters of the pages of teams."""

from __future__ import annotations

from urllib.parse import urlencode

from django import template

register = template.Library()


@register.filter
def team_query(name: str) -> str:
    """Return the query of a list of groups that shows only those of a team."""
    return urlencode({"f.team": name})
