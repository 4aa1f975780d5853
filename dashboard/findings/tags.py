"""A tag that names findings."""

from __future__ import annotations

from django import template

from dashboard.wording.words import word

register = template.Library()


@register.simple_tag
def finding_title(key: str) -> str:
    return word("finding", f"{key}.title")
