"""Tags and filters that put pieces, intervals and causes of the timeline into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from dashboard.models import AlertSubject
from dashboard.wording import numbers
from dashboard.wording.words import word

from .choice import Choice
from .holdings import NOBODY, Moment
from .lanes import Mark, Row
from .notes import Note
from .reads import EpochRow, Timeline

register = template.Library()

LETTERS: Final = "ABCDEFGHIJKL"
NAMED: Final = 3
"""More members than these are counted in a label."""


@register.filter
def between(moment: Moment | None) -> str:
    """Write an interval: one time if both ends are about the same, else from and to."""
    if moment is None:
        return word("ui", "now")
    if moment.error_ms < 1000:
        return _clock(moment.by)
    return f"{_clock(moment.after)} – {_clock(moment.by)}"


@register.filter
def minus(value: float, less: float) -> str:
    """Return the difference of two positions in per cent."""
    return f"{value - less:.3f}"


@register.filter
def span_of_minutes(minutes: int) -> str:
    """Write a span to choose from: 15 min, 6 h."""
    if minutes < 60:
        return _("%(span)s min") % {"span": minutes}
    return _("%(hours)s h") % {"hours": minutes // 60}


@register.simple_tag
def member_name(timeline: Timeline, owner: str, label: str, connection: int) -> str:
    """Name a member, with the number of its connection if its client id has several."""
    count = timeline.connections.get(owner, 1)
    if count == 1:
        return label
    return f"{label} · {word('ui', 'connection', n=connection + 1, all=count)}"


@register.filter
def which_connection(row: Row, timeline: Timeline) -> str:
    """Write in short which connection of its client id a member is: (1/2)."""
    count = timeline.connections.get(row.owner, 1)
    return "" if count == 1 else f"({row.connection + 1}/{count})"


@register.simple_tag
def mark_text(mark: Mark, timeline: Timeline) -> str:
    """Say what a mark stands for, with its error bars."""
    if mark.part == "double":
        return _("Owned twice, with certainty")
    if mark.part == "unknown":
        return _("Not known, from %(begin)s to %(end)s") % _ends(mark)
    who = word("ui", "no_owner")
    if mark.owner:
        label = timeline.labels.get(mark.owner, mark.owner)
        connection = 0 if mark.piece is None else mark.piece.connection
        who = member_name(timeline, mark.owner, label, connection)
    if mark.count is not None:
        return _("%(who)s: %(n)s queues") % {"who": who, "n": mark.count}
    if mark.piece is None:
        return who
    text = _("%(who)s, from %(begin)s to %(end)s") % {"who": who, **_ends(mark)}
    certain = mark.piece.certain
    if certain is None:
        return text + " · " + _("not certain at any moment")
    if mark.owner == NOBODY and certain[1] is not None:
        lasted = numbers.duration(certain[1] - certain[0])
        return text + " · " + _("at least %(span)s") % {"span": lasted}
    return text


@register.filter
def alert_text(subject: AlertSubject) -> str:
    """Say what the mark of an alert stands for: how bad, which rule, when, and who."""
    alert, end = subject.alert, subject.closed_at
    begun = f"{timezone.localtime(subject.opened_at):%m-%d %H:%M:%S}"
    span = (
        _("open since %(begin)s") % {"begin": begun}
        if end is None
        else f"{begun} – {timezone.localtime(end):%m-%d %H:%M:%S}"
    )
    parts = [f"{alert.get_severity_display()}: {alert.rule_name}", span]
    if alert.acknowledged_by_name:
        parts.append(_("acknowledged by %(who)s") % {"who": alert.acknowledged_by_name})
    return ", ".join(parts)


@register.simple_tag
def note_mark(note: Note, timeline: Timeline, choice: Choice, page: str) -> SafeString:
    """Draw the label of a change with its mark; several lead to their own span.

    `page` is the address of the timeline's own page.
    """
    text = format_html(
        '<text x="{}%" y="13"{}><tspan class="when">{}</tspan> {}</text>'
        '<text class="tip" x="{}%" y="25" text-anchor="middle">▼</text>',
        *(note.x, mark_safe(' text-anchor="end"') if note.at_end else ""),
        *(f"{_local(note.changes[0].at):%H:%M:%S}", note_text(note, timeline), note.x),
    )
    if len(note.changes) == 1:
        return text
    url = choice.span(note.since, note.until)
    return format_html('<a href="{}{}">{}</a>', page, url, text)


def note_text(note: Note, timeline: Timeline) -> str:
    """Say what a label stands for, without the time."""
    n = len(note.changes)
    if n > 1:
        span = numbers.duration(note.span_ms)
        return word("note", "several", n, span=span)
    change = note.changes[0]
    if change.broker:
        return word("note", change.cause, broker=change.broker)
    room = "note" if change.joined or change.left else "epoch"
    what = word(
        room,
        change.cause,
        joined=_letters(change.joined, timeline),
        left=_letters(change.left, timeline),
    )
    if not change.moved:
        return what
    moved = word("note", "moved", change.moved)
    if change.at_least:
        moved = f"≥ {moved}"
    return word("note", "so", what=what, moved=moved)


def _letters(members: Sequence[str], timeline: Timeline) -> str:
    """Name members by their letters, as their lanes do; many are counted."""
    if len(members) > NAMED:
        return word("note", "members", len(members))
    slots = timeline.slots
    return ", ".join(
        LETTERS[slots[each]]
        if each in slots and slots[each] < len(LETTERS)
        else timeline.labels.get(each, each)
        for each in members
    )


@register.simple_tag
def by_url(choice: Choice, by: str) -> str:
    """Return the query of the same span with other lanes."""
    return replace(choice, by=by).query


@register.simple_tag
def minutes_url(choice: Choice, minutes: int) -> str:
    """Return the query of one of the usual spans, with the same end."""
    end = None if choice.since is not None else choice.until
    return replace(choice, minutes=minutes, until=end, since=None).query


@register.simple_tag
def until_url(choice: Choice, until: int | None) -> str:
    """Return the query of the usual span that ends at another time, None for now."""
    return replace(choice, until=until, since=None).query


@register.simple_tag
def epoch_cause(row: EpochRow, labels: Mapping[str, str]) -> str:
    """Say why an epoch began, with the names of the members that joined and left."""
    return word(
        "change",
        row.epoch.cause,
        joined=[labels.get(each, each) for each in row.joined],
        left=[labels.get(each, each) for each in row.left],
        members_before=len(row.epoch.members) - len(row.joined) + len(row.left),
        members=len(row.epoch.members),
        queues=len(row.epoch.queues),
    )


def _ends(mark: Mark) -> dict[str, str]:
    assert mark.piece is not None  # noqa: S101 - such marks have one
    return {"begin": between(mark.piece.begin), "end": between(mark.piece.end)}


def _clock(ms: int) -> str:
    return f"{_local(ms):%H:%M:%S}.{ms % 1000 // 100}"


def _local(ms: int) -> datetime:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.astimezone(timezone.get_current_timezone())
