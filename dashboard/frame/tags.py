"""Filters and tags that turn values into readable text.

Unknown is always a dash with its reason, never a zero: every filter for a number
returns the dash itself when given None.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.conf import settings
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dashboard.models import Alert
from dashboard.models.compiled import Compiled
from dashboard.wording import numbers
from dashboard.wording.links import contact_link
from dashboard.wording.markup import fill
from dashboard.wording.terms import TERMS
from dashboard.wording.words import word

from . import modules

register = template.Library()

LETTERS = "ABCDEFGHIJKL"
_OPEN_ALERTS = Compiled(
    lambda: Alert.objects.open().filter(cluster="").order_by().values_list("pk")
)
LONGEST_KEPT = 255
"""Buttons that copy a longer text are drawn anew each time."""


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Draw a symbol of `static/img/icons.svg`; it says nothing to screen readers."""
    return _icon(name, extra, settings.STATIC_URL)


@lru_cache(maxsize=1024, typed=True)  # what is safe is not escaped
def _icon(name: str, extra: str, _static_url: str) -> SafeString:
    """Draw a symbol, once: a page has some thirty of them, most pages the same."""
    return fill(
        '<svg class="icon {}" aria-hidden="true"><use href="{}#{}"/></svg>',
        *(extra, static("img/icons.svg"), name),
    )


@register.simple_tag
def part(template: str, **values: Hashable) -> SafeString:
    """Draw a template from these values alone, once in each language for the same.

    It sees neither the request nor the page's context, so what it shows of the reader's
    rights is among the values. It must not show times, which depend on the zone.
    """
    return _part(template, get_language(), settings.STATIC_URL, **values)


@lru_cache(maxsize=512, typed=True)  # what is safe is not escaped
def _part(
    template: str, _language: str | None, _static_url: str, **values: Hashable
) -> SafeString:
    """Draw a part; many values, such as counts of groups, come and go."""
    return render_to_string(template, values)


@register.simple_tag
def module_script(name: str) -> SafeString:
    """Load a module of `static/js`, and at the same time all that it imports."""
    return modules.script(name)


@register.simple_tag
def copy_button(text: str, name: str) -> SafeString:
    """Draw a small button that copies `text`; `name` says what that is.

    `static/js/frame/copying.js` answers it, and can draw the same button.
    """
    return _copying("data-copy", text, name)


@register.simple_tag
def copy_from(element: str, name: str) -> SafeString:
    """Draw a small button that copies what the element with that id holds."""
    return _copying("data-copy-from", f"#{element}", name)


def _copying(attribute: str, value: str, name: str) -> SafeString:
    draw = _kept_button if len(value) <= LONGEST_KEPT else _button
    return draw(attribute, value, name, settings.STATIC_URL, get_language())


def _button(
    attribute: str, value: str, name: str, _static_url: str, _language: str
) -> SafeString:
    label = word("ui", "copy_name", name=name)
    return fill(
        '<button class="copy" type="button" {}="{}" aria-label="{}" '
        'title="{}">{}</button>',
        *(attribute, value, label, label, icon("copy", "icon-small")),
    )


# Each row of a table has one, and most rows are there at the next sweep, too. What is
# safe is not escaped.
_kept_button = lru_cache(maxsize=4096, typed=True)(_button)


@register.filter
def contact(text: str) -> str:
    """Draw what somebody typed as a contact, as a link where it leads somewhere."""
    address = contact_link(text)
    if not address:
        return text
    return fill('<a href="{}" rel="noopener noreferrer">{}</a>', address, text)


@register.simple_tag
def explain(key: str) -> SafeString:
    """Draw a small button that says what a word means, to stand beside the word.

    `key` is one of `dashboard.wording.terms`. `static/js/frame/terms.js` places the
    box, and can draw the same button.
    """
    return fill(
        '<button class="explain" type="button" popovertarget="term-{}" '
        'aria-label="{}">{}</button>',
        key,
        word("ui", "explain", name=word("term", key)),
        icon("info", "icon-small"),
    )


@register.simple_tag
def terms() -> list[tuple[str, str, str]]:
    """Return each word that pages explain: its key, itself, its meaning."""
    return [(key, str(name), word("meaning", key)) for key, name in TERMS.items()]


@register.simple_tag
def unknown(reason: str | None = None) -> SafeString:
    """Write the dash that stands for an unknown value, with its reason."""
    text = word("unknown", reason) or _("Not known")
    return fill(
        '<span class="unknown" tabindex="0" title="{}">—'
        '<span class="unseen"> {}</span></span>',
        text,
        text,
    )


@register.simple_tag
def as_of(milliseconds: float) -> SafeString:
    """Write the mark of a value that is not fresh: "as of" and its time."""
    text = word("ui", "as_of", time=numbers.clock(milliseconds))
    return fill('<span class="as-of">{}{}</span>', icon("timers", "icon-small"), text)


@register.filter
def clock(milliseconds: float) -> str:
    """Write the time of day of milliseconds since the epoch."""
    return numbers.clock(milliseconds)


@register.filter
def count(value: float | None) -> str:
    return unknown() if value is None else numbers.count(value)


@register.filter
def compact(value: float | None) -> str:
    return unknown() if value is None else numbers.compact(value)


@register.filter
def rate(value: float | None) -> str:
    return unknown() if value is None else numbers.rate(value)


@register.filter
def duration(value: float | None) -> str:
    return unknown() if value is None else numbers.duration(value)


@register.filter
def seconds(value: float | None) -> str:
    """Write a duration given in seconds."""
    return unknown() if value is None else numbers.duration(value * 1000)


@register.filter
def ratio(value: float | None) -> str:
    return unknown() if value is None else numbers.ratio(value)


@register.filter
def version(value: str | None) -> str:
    """Write a client's or broker's version as people write it: V5_3_1 is 5.3.1."""
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
    """Return how far from the top a bar of this height begins, in per cent."""
    return f"{100 - per_cent:.1f}"


@register.simple_tag
def words(
    room: str, key: str | None, number: int | None = None, /, **values: Any
) -> str:
    return word(room, key, number, **values)


@register.filter
def state_icon(level: str, name: str = "") -> str:
    """Return the name of the icon for a state; falling behind has its own icon."""
    special = {"falling_behind": "behind", "shared": "shared", "idle": "idle"}
    return special.get(name, level)


@register.filter
def yesno_equal(value: object, other: object) -> str:
    """Return "true" or "false" for ARIA attributes."""
    return "true" if value == other else "false"


@register.filter
def in_group(place: str | None) -> bool:
    """Tell whether the address is the list of groups or a page of one group."""
    return place is not None and place.startswith("group")


@register.filter
def begins(place: str | None, start: str) -> bool:
    """Tell whether the address's name begins with that of a part of the site."""
    return place is not None and place.startswith(start)


@register.filter
def listed_groups(overview: Mapping[str, Any] | None) -> int | None:
    """Count the groups of an overview; None without one."""
    return len(overview["groups"]) if overview else None


@register.filter
def lookup(values: Mapping[str, Any], key: str) -> Any:
    return values.get(key)


@register.simple_tag
def open_alerts(cluster: str) -> int:
    """Count the open alerts of a cluster; none for an empty name."""
    return _OPEN_ALERTS.count(cluster) if cluster else 0


@register.simple_tag
def bar(value: float | None, most: float) -> SafeString:
    """Draw a bar of 44 pixels; any value above zero is visible."""
    width = 0.0
    if value and most > 0:
        width = max(1.0, min(44.0, value / most * 44))
    return fill(
        '<svg class="track" width="44" height="8" aria-hidden="true">'
        '<rect class="track-ground" width="44" height="8" rx="2"/>'
        '<rect class="track-value" width="{}" height="8" rx="2"/></svg>',
        f"{width:.1f}",
    )
