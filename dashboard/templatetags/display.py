"""Filters and tags that turn values into what people read.

Unknown is always a dash with its reason, never a zero: every filter for a number
gives back the dash itself when it is handed None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.charts.sparkline import HEIGHT, WIDTH, sparkline
from dashboard.live.documents import FindingState, GroupState
from dashboard.selectors.overview import DEFAULT_SORT, ListQuery
from dashboard.selectors.whatif import BALANCED, SHOW
from dashboard.views import figures
from dashboard.views.findings import (
    SaidFinding,
    SaidRules,
    say_finding,
    say_rules,
    shown,
)
from dashboard.views.words import word
from dashboard.whatif import Note, Scenario, joined, to_entries, to_query
from rmqcore.model import MessageQueue

register = template.Library()

LETTERS = "ABCDEFGHIJKL"
BARS = 24


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Draw a symbol of `static/img/icons.svg`; it says nothing to screen readers."""
    return format_html(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"/></svg>',
        extra,
        static("img/icons.svg"),
        name,
    )


@register.simple_tag
def trend(points: Sequence[float | None], level: str) -> SafeString:
    """Draw the last hour of a lag; its peak is said to who cannot see it."""
    known = [value for value in points if value is not None]
    if not known:
        return format_html('<span class="dim small">{}</span>', _("no data"))
    lines = format_html_join(
        "", '<polyline points="{}"/>', ((line,) for line in sparkline(points))
    )
    peak = _("peak %(lag)s in the last hour") % {"lag": figures.compact(max(known))}
    return format_html(
        '<svg class="trend {}" width="{}" height="{}" viewBox="0 0 {} {}" role="img">'
        "<title>{}</title>{}</svg>",
        level,
        WIDTH,
        HEIGHT,
        WIDTH,
        HEIGHT,
        peak,
        lines,
    )


@register.simple_tag
def unknown(reason: str | None = None) -> SafeString:
    """Write the dash that stands for a value not known, with its reason."""
    text = word("unknown", reason) or _("Not known")
    return format_html(
        '<span class="unknown" tabindex="0" title="{}">—'
        '<span class="unseen"> {}</span></span>',
        text,
        text,
    )


@register.simple_tag
def as_of(milliseconds: float) -> SafeString:
    """Write the mark of a value that is not fresh: since when it stands."""
    text = word("ui", "as_of", time=figures.clock(milliseconds))
    return format_html(
        '<span class="as-of">{}{}</span>', icon("timers", "icon-small"), text
    )


@register.filter
def clock(milliseconds: float) -> str:
    """Write the time of day of milliseconds since the epoch."""
    return figures.clock(milliseconds)


@register.filter
def count(value: float | None) -> str:
    return unknown() if value is None else figures.count(value)


@register.filter
def compact(value: float | None) -> str:
    return unknown() if value is None else figures.compact(value)


@register.filter
def rate(value: float | None) -> str:
    return unknown() if value is None else figures.rate(value)


@register.filter
def duration(value: float | None) -> str:
    return unknown() if value is None else figures.duration(value)


@register.filter
def seconds(value: float | None) -> str:
    """Write a span given in seconds."""
    return unknown() if value is None else figures.duration(value * 1000)


@register.filter
def ratio(value: float | None) -> str:
    return unknown() if value is None else figures.ratio(value)


@register.filter
def version(value: str | None) -> str:
    """Write a client's or broker's version as people do: V5_3_1 is 5.3.1."""
    if not value:
        return ""
    return value.removeprefix("V").replace("_", ".")


@register.filter
def letter(slot: int) -> str:
    return LETTERS[slot % len(LETTERS)]


@register.filter
def moment(milliseconds: float | None) -> datetime | None:
    """Turn milliseconds since the epoch into a time that `date` can format."""
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)


@register.filter
def epoch(seconds: float) -> datetime:
    """Turn seconds since the epoch into a time that `date` can format."""
    return datetime.fromtimestamp(seconds, tz=UTC)


@register.filter
def from_hundred(per_cent: float) -> str:
    """Return where something of that height begins from the top, in per cent."""
    return f"{100 - per_cent:.1f}"


@register.simple_tag
def words(room: str, key: str | None, **values: Any) -> str:
    return word(room, key, **values)


@register.filter
def state_icon(level: str, name: str = "") -> str:
    """Name the icon of a state; falling behind has one of its own."""
    special = {"falling_behind": "behind", "shared": "shared", "idle": "idle"}
    return special.get(name, level)


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


@register.filter
def yesno_equal(value: object, other: object) -> str:
    """Say "true" or "false" for ARIA attributes."""
    return "true" if value == other else "false"


@register.filter
def in_group(place: str | None) -> bool:
    """Say whether the address is the list of groups or a page of one."""
    return place is not None and place.startswith("group")


@register.filter
def need_a_look(by_level: dict[str, int]) -> int:
    return by_level.get("crit", 0) + by_level.get("warn", 0)


@register.simple_tag
def query_url(query: ListQuery, **changes: Any) -> str:
    return query.url(**changes)


@register.simple_tag
def sort_head(query: ListQuery, sort: str, title: str, css: str = "") -> SafeString:
    """Draw a column head that sorts; a second click turns the order round."""
    column = sort.removeprefix("-")
    if query.sort.removeprefix("-") != column:
        return format_html(
            '<th scope="col" class="{}"><a href="{}">{}</a></th>',
            css,
            query.url(sort=sort),
            title,
        )
    falling = query.sort.startswith("-")
    turned = column if falling else f"-{column}"
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a href="{}">{} {}</a></th>',
        css,
        "descending" if falling or column == DEFAULT_SORT else "ascending",
        query.url(sort=DEFAULT_SORT if column == DEFAULT_SORT else turned),
        title,
        "▾" if falling or column == DEFAULT_SORT else "▴",
    )


@register.simple_tag
def whatif_note(note: Note) -> str:
    """Write a remark of a comparison in words."""
    params = {
        name: shown(name, value) if name.endswith("_at") else value
        for name, value in note.params
    }
    if options := params.get("options"):
        names = [word("option", option) for option in str(options).split(", ")]
        params["options"] = ", ".join(names)
    return word("whatif", note.code, **params)


@register.filter
def named(client_ids: Sequence[str], labels: Mapping[str, str]) -> str:
    """Write client ids by their labels; nobody is said as such."""
    names = [labels.get(client_id, client_id) for client_id in client_ids]
    return ", ".join(names) or word("ui", "no_owner")


@register.filter
def lookup(values: Mapping[str, Any], key: str) -> Any:
    return values.get(key)


@register.simple_tag
def scenario_url(scenario: Scenario, strategy: str) -> str:
    """Return the address of the same scenario with another strategy shown."""
    if strategy == BALANCED:
        return f"?{to_query(replace(scenario, strategy=None))}&{SHOW}={strategy}"
    return "?" + to_query(replace(scenario, strategy=strategy))


@register.filter
def config_fields(queues: Sequence[MessageQueue], client_id: str) -> list[str]:
    """Return a member's list as the values of its fields in a link."""
    return [joined(client_id, *entry) for entry in to_entries(queues)]


@register.filter(name="joined")
def joined_name(text: str) -> str:
    """Write a name as it stands within a field of several parts."""
    return joined(text)


@register.simple_tag
def load_bars(
    loads: Sequence[float], most: float, capacity: float | None
) -> SafeString:
    """Draw a bar for each member, or the heaviest of several where they are many."""
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


@register.simple_tag
def bar(value: float | None, most: float) -> SafeString:
    """Draw a bar of 44 pixels; whatever is more than nothing can be seen."""
    width = 0.0
    if value and most > 0:
        width = max(1.0, min(44.0, value / most * 44))
    return format_html(
        '<svg class="track" width="44" height="8" aria-hidden="true">'
        '<rect class="track-ground" width="44" height="8" rx="2"/>'
        '<rect class="track-value" width="{}" height="8" rx="2"/></svg>',
        f"{width:.1f}",
    )
