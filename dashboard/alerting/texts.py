"""The text of a message, in the language of its channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.accounts.owners import owners
from dashboard.clock.moments import as_ms
from dashboard.models import Alert, AlertMessage
from dashboard.wording.numbers import count, day_and_time, duration
from dashboard.wording.zones import zone_label

from .said import SaidAlert, SaidSubject, say_alert

SUBJECTS: Final = 10
"""So many groups are described in one message; the others are counted."""
QUEUES: Final = 4

ENDED: Final = "its sender ended without an answer"
"""The error of a message whose outcome is not known."""

What = AlertMessage.What


@dataclass(frozen=True, slots=True)
class Text:
    """Title and body, as plain text; `kind` is how urgent receivers may show it."""

    title: str
    body: str
    kind: str


def text_of(message: AlertMessage, language: str) -> Text:
    """Return what a message says now. An alert may have gone on since it was made."""
    with translation.override(language):
        alert = message.alert
        if alert is None:
            return _test(message)
        text = _closed(alert) if message.what == What.CLOSED else _open(alert, message)
        if message.error == ENDED:
            again = _(
                "This message may have arrived before: its sender ended without an "
                "answer."
            )
            return Text(text.title, f"{text.body}\n\n{again}", text.kind)
        return text


def _test(message: AlertMessage) -> Text:
    return Text(
        title=_("RocketScope: a test"),
        body=_("This is a test of the channel “%(name)s”. Nothing is wrong.")
        % {"name": message.channel_name},
        kind="info",
    )


def _open(alert: Alert, message: AlertMessage) -> Text:
    rows = alert.subjects.order_by("pk")
    after = message.content.get("after", 0)
    chosen = list(rows[after : after + SUBJECTS])
    number = rows.count() - after
    teams = owners(alert.cluster)
    said = say_alert(alert, chosen, teams=teams, all_subjects=number)
    title = said.title
    if message.what == What.MORE:
        title = _("Further: %(title)s") % {"title": title}
    if message.what == What.ESCALATED:
        title = _("Not acknowledged: %(title)s") % {"title": title}
    kind = "failure" if alert.severity == "crit" else "warning"
    return Text(_headed(alert, said, title), _body(alert, said), kind)


def _closed(alert: Alert) -> Text:
    rows = alert.subjects.order_by("pk")
    said = say_alert(
        alert,
        list(rows[:SUBJECTS]),
        teams=owners(alert.cluster),
        all_subjects=rows.count(),
    )
    end = alert.closed_at or alert.opened_at
    lasted = duration(as_ms(end) - as_ms(alert.opened_at))
    how = alert.get_end_display()
    lines = [
        _("Over since %(time)s, after %(lasted)s: %(how)s.")
        % {
            "time": f"{day_and_time(as_ms(end))} {zone_label()}",
            "lasted": lasted,
            "how": how,
        },
        *(f"• {each.what}" for each in said.subjects),
        *_more(said),
        "",
        said.link,
    ]
    title = _headed(alert, said, _("Over: %(title)s") % {"title": said.title})
    return Text(title, "\n".join(lines), "success")


def _headed(alert: Alert, said: SaidAlert, title: str) -> str:
    return f"[{alert.cluster}] [{said.severity}] {title}"


def _body(alert: Alert, said: SaidAlert) -> str:
    lines = [
        _("Rule: %(name)s. Open since %(time)s.")
        % {"name": alert.rule_name, "time": said.since}
    ]
    for each in said.subjects:
        lines += ["", *_described(each)]
    lines += [*_more(said), "", said.link]
    return "\n".join(lines)


def _described(subject: SaidSubject) -> list[str]:
    lines = [subject.what, _("Since: %(time)s") % {"time": subject.since}]
    if subject.queues:
        queues = ", ".join(subject.queues[:QUEUES])
        rest = len(subject.queues) - QUEUES
        if rest > 0:
            queues = f"{queues}, +{rest}"
        lines.append(_("Queues: %(names)s") % {"names": queues})
    if subject.owners:
        lines.append(_("Owner: %(names)s") % {"names": ", ".join(subject.owners)})
    if subject.team:
        team = (
            f"{subject.team} ({subject.contact})" if subject.contact else subject.team
        )
        lines.append(_("Team: %(name)s") % {"name": team})
    if subject.why:
        lines.append(_("Why: %(text)s") % {"text": subject.why})
    if subject.advice:
        lines.append(_("What to do: %(text)s") % {"text": subject.advice})
    return lines


def _more(said: SaidAlert) -> list[str]:
    if not said.more:
        return []
    form = ngettext("and %(n)s more", "and %(n)s more", said.more)
    return ["", form % {"n": count(said.more)}]
