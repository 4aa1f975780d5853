"""Filters and tags that say findings in words."""

from __future__ import annotations

from django import template

from dashboard.live.documents import FindingState, GroupState
from dashboard.wording.words import word

from .said import SaidFinding, SaidRules, say_finding, say_rules

register = template.Library()


@register.simple_tag
def finding_title(key: str) -> str:
    return word("finding", f"{key}.title")


@register.filter
def said(finding: FindingState) -> SaidFinding:
    """Word a finding in the reader's language."""
    return say_finding(finding)


@register.filter
def said_rules(state: GroupState) -> SaidRules | None:
    """Word how the rules of a group's findings fared."""
    return say_rules(state)
