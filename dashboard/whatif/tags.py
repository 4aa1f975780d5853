"""Filters and tags of scenarios and their comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from dashboard.findings.said import shown
from dashboard.wording.words import word
from rmqcore.model import MessageQueue

from .model import Note, Scenario, joined, to_entries, to_query
from .reads import BALANCED, SHOW

register = template.Library()

BARS = 24
"""The most bars in a row; with more members, a bar is the heaviest of several."""


@register.simple_tag
def whatif_note(note: Note) -> str:
    """Write a remark of a comparison in words."""
    params = {name: shown(name, value) for name, value in note.params}
    if options := params.get("options"):
        names = [word("option", option) for option in str(options).split(", ")]
        params["options"] = ", ".join(names)
    counted = dict(note.params)
    number = counted.get("all", counted.get("queues", 0))
    return word("whatif", note.code, int(number), **params)


@register.filter
def named(client_ids: Sequence[str], labels: Mapping[str, str]) -> str:
    """Write client ids by their labels, or that there is no owner."""
    names = [labels.get(client_id, client_id) for client_id in client_ids]
    return ", ".join(names) or word("ui", "no_owner")


@register.simple_tag
def scenario_url(scenario: Scenario, strategy: str) -> str:
    """Return the link to the same scenario with another strategy shown."""
    if strategy == BALANCED:
        return f"?{to_query(replace(scenario, strategy=None))}&{SHOW}={strategy}"
    return "?" + to_query(replace(scenario, strategy=strategy))


@register.filter
def config_fields(queues: Sequence[MessageQueue], client_id: str) -> list[str]:
    """Return a member's list as the values of its fields in a link."""
    return [joined(client_id, *entry) for entry in to_entries(queues)]


@register.filter(name="joined")
def joined_name(text: str) -> str:
    """Write a name as part of a field that has several parts."""
    return joined(text)


@register.simple_tag
def load_bars(
    loads: Sequence[float], most: float, capacity: float | None
) -> SafeString:
    """Draw a bar for each member, or for the heaviest of several if they are many."""
    size = -(-len(loads) // BARS) or 1
    heights = [max(loads[at : at + size]) for at in range(0, len(loads), size)]
    top = max(most, capacity or 0.0)
    if not heights or not top:
        return SafeString("")
    width = 72 / max(len(heights), 5)
    bars = format_html_join(
        "",
        '<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1"/>',
        (
            (
                "load-over" if capacity is not None and load > capacity else "load",
                f"{at * width:.1f}",
                f"{19 - load / top * 17:.1f}",
                f"{max(width - (3 if width > 8 else 0.5), 1):.1f}",
                f"{max(load / top * 17, 0.5):.1f}",
            )
            for at, load in enumerate(heights)
        ),
    )
    line = SafeString("")
    if capacity is not None:
        y = f"{19 - capacity / top * 17:.1f}"
        line = format_html('<line class="load-limit" x2="72" y1="{0}" y2="{0}"/>', y)
    return format_html(
        '<svg class="loads" width="72" height="20" aria-hidden="true">{}{}</svg>',
        bars,
        line,
    )
