"""What the forms of reports send, read into what the services take.

Values are passed on as they came; the services say what is wrong with them. Only what
is not a number where a number is needed is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dashboard.models import Grouping, Paper, ReportDefinition
from dashboard.models.report import KEEP_DAYS
from dashboard.reports.request.comparisons import CONSISTENT_HASH, MACHINE_ROOM
from dashboard.reports.request.periods import DEFAULT

from .definitions import DefinitionFields
from .writes import Content, ReportRefusedError

_LONGEST: Final = 255
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,9}")
_PLAIN_SIGNS: Final = str.maketrans("，、；;－−＋", ",,,,--+")
_LONGEST_NAME: Final = 120


def read_content(fields: QueryDict) -> Content:
    """Read what a report is about and how its files look.

    Language and zone are those of whoever sends the form: its files will be read there.
    """
    return Content(
        name=fields.get("name", "").strip()[:_LONGEST_NAME],
        topic=fields.get("topic", "").strip()[:_LONGEST],
        consumer=fields.get("consumer", "").strip()[:_LONGEST],
        grouping=fields.get("grouping", Grouping.QUEUE),
        added_members=_added_members(fields.get("added_members", "")),
        options=_options(fields),
        formats=tuple(dict.fromkeys(fields.getlist("formats"))),
        paper=fields.get("paper", Paper.A4),
        language=get_language() or "en",
        zone=timezone.get_current_timezone_name(),
    )


def read_definition(fields: QueryDict) -> DefinitionFields:
    """Read a definition; raises ReportRefusedError for a wrong number or time."""
    return DefinitionFields(
        read_content(fields),
        cluster=fields.get("cluster", ""),
        group=fields.get("group", "").strip()[:_LONGEST],
        period=fields.get("period", DEFAULT),
        every=fields.get("every", ReportDefinition.Every.NEVER),
        at_minute=_minute_of_day(fields.get("at", "00:05")),
        on_day=_number(_("Day"), fields.get("on_day", "1")),
        keep_days=_number(_("Days kept"), fields.get("keep_days", str(KEEP_DAYS))),
        paused=fields.get("paused", "") == "on",
    )


def added_words(numbers: Sequence[int]) -> str:
    """Write members more or fewer as the form's field takes them: +1, -2."""
    return ", ".join(f"{number:+d}" for number in numbers)


def rooms_words(options: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the machine rooms of options as the form's field takes them."""
    return ", ".join(options.get(MACHINE_ROOM, {}).get("rooms", ()))


def nodes_word(options: Mapping[str, Mapping[str, Any]]) -> str:
    """Write the virtual nodes of options as the form's field takes them."""
    return str(options.get(CONSISTENT_HASH, {}).get("virtual_nodes", ""))


def _added_members(text: str) -> tuple[int, ...]:
    """Read numbers such as `+1, -2`; signs and commas may be Chinese ones."""
    plain = text.translate(_PLAIN_SIGNS)
    found = []
    for part in plain.replace(",", " ").split():
        if not _NUMBER.fullmatch(part):
            raise ReportRefusedError(
                _("Members more or fewer: “%(text)s” is not a number such as +1 or -2.")
                % {"text": part[:20]}
            )
        found.append(int(part))
    return tuple(dict.fromkeys(found))


def _options(fields: QueryDict) -> dict[str, dict[str, Any]]:
    rooms = fields.get("rooms", "").translate(_PLAIN_SIGNS).split(",")
    names = [room.strip() for room in rooms if room.strip()]
    options: dict[str, dict[str, Any]] = {}
    if names:
        options[MACHINE_ROOM] = {"rooms": names}
    nodes = fields.get("virtual_nodes", "").strip()
    if nodes:
        number = _number(_("Virtual nodes"), nodes)
        options[CONSISTENT_HASH] = {"virtual_nodes": number}
    return options


def clock_of(minute_of_day: int) -> str:
    """Write a minute of the day as the form's field takes it: 08:05."""
    hour, minute = divmod(minute_of_day, 60)
    return f"{hour:02}:{minute:02}"


def _minute_of_day(text: str) -> int:
    hour, colon, minute = text.partition(":")
    if not colon:
        raise ReportRefusedError(
            _("“%(text)s” is no time of day such as 08:05.") % {"text": text[:20]}
        )
    return _number(_("Hour"), hour) * 60 + _number(_("Minute"), minute[:2])


def _number(what: str, text: str) -> int:
    if not text.strip().isdecimal():
        raise ReportRefusedError(
            _("%(what)s: “%(text)s” is not a whole number.")
            % {"what": what, "text": text[:20]}
        )
    return int(text)
