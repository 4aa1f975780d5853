"""The log of an alert: when it began, what was told to whom, who looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.models import Alert, AlertMessage, AlertSubject
from dashboard.wording.numbers import count

from .words import message_text

_ESCALATED = AlertMessage.What.ESCALATED


@dataclass(frozen=True, slots=True)
class LogLine:
    """One event; `level` is "crit" for what failed, "mine" for what a person did."""

    at: datetime
    text: str
    level: str = ""


def log_of(
    alert: Alert, subjects: Sequence[AlertSubject], messages: Sequence[AlertMessage]
) -> list[LogLine]:
    """Return the events of an alert in the order in which they happened."""
    lines = [*_events(alert, subjects), *map(_told, messages)]
    return sorted(lines, key=lambda each: each.at)


def _events(alert: Alert, subjects: Sequence[AlertSubject]) -> Iterator[LogLine]:
    if subjects:
        began = min(each.began_at for each in subjects)
        if began < alert.opened_at:
            yield LogLine(began, _("the condition began to hold"))
    yield LogLine(alert.opened_at, _("opened"))
    later = [each for each in subjects if each.opened_at > alert.opened_at]
    if later:
        form = ngettext("%(n)s more: %(name)s", "%(n)s more: %(name)s, …", len(later))
        words = {"n": count(len(later)), "name": later[0].name}
        yield LogLine(min(each.opened_at for each in later), form % words)
    if alert.acknowledged_at is not None:
        text = _("%(name)s is on it") % {"name": alert.acknowledged_by_name}
        yield LogLine(alert.acknowledged_at, text, "mine")
    if alert.escalated_at is not None:
        yield LogLine(alert.escalated_at, _("escalated: nobody acknowledged it"))
    if alert.closed_at is not None:
        text = _("closed: %(how)s") % {"how": alert.get_end_display()}
        yield LogLine(alert.closed_at, text)


def _told(message: AlertMessage) -> LogLine:
    failed = bool(message.error) and message.state != AlertMessage.State.SENT
    text = f"{message.get_what_display()} · {message_text(message)}"
    at = message.ended_at or message.made_at
    return LogLine(at, text, "crit" if failed else "")
