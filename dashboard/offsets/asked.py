"""What a person asks for, turned into an address that means the same tomorrow.

A form gives a time in the reader's own zone, a button a time so many seconds ago; the
address of a preview has milliseconds since the epoch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import parse_qsl, urlencode

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

PRESETS: Final = (
    (600, _("10 minutes")),
    (3_600, _("1 hour")),
    (86_400, _("1 day")),
)
"""Seconds to go back, and how the button names them."""
_LONGEST_AGO_S: Final = 10 * 365 * 86_400
_MOST_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Preset:
    """A button that goes back by a span of time."""

    name: str
    query: str


def preset_of(topic: str) -> Sequence[Preset]:
    """Return the buttons for a topic; none without one."""
    if not topic:
        return ()
    return [
        Preset(
            str(name), urlencode([("to", "time"), ("topic", topic), ("ago", seconds)])
        )
        for seconds, name in PRESETS
    ]


def pinned(query: str, now_ms: int | None = None) -> str:
    """Return the query with its time in milliseconds, and without empty fields.

    A time that cannot be read stays, so that the page can say what is wrong with it.
    """
    try:
        pairs = parse_qsl(query, max_num_fields=10_000)
    except ValueError:
        return query
    given = dict(pairs)
    if given.get("to") != "time" or "format" in given:
        return query
    at_ms = _at_ms(given, now_ms)
    if at_ms is None or given.get("at") == str(at_ms):
        return query
    kept = [(name, value) for name, value in pairs if name in {"to", "topic", "queue"}]
    return urlencode([*kept, ("at", str(at_ms))])


def _at_ms(given: dict[str, str], now_ms: int | None) -> int | None:
    ago = given.get("ago", "")
    short = len(ago) <= _MOST_DIGITS and ago.isascii() and ago.isdigit()
    if short and int(ago) <= _LONGEST_AGO_S:
        now = int(time.time() * 1000) if now_ms is None else now_ms
        return now - int(ago) * 1000
    text = given.get("at", "")
    if not text or text.isdigit():
        return None
    try:
        moment = datetime.fromisoformat(text[:40])
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = timezone.make_aware(moment)
    return max(0, round(moment.timestamp() * 1000))
