"""The tables of dead letters and of the letters of a run; they show no bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.frame.messages.masks import Masks, shown_properties
from dashboard.frame.messages.moments import exact
from dashboard.frame.messages.places import Place, message_url, place_url
from dashboard.frame.tables import Chip, Column, Facet, Table
from dashboard.frame.tags import unknown
from dashboard.gateway.dead_letters import DeadLetter
from dashboard.models import Cluster, ResendRun, ResentLetter
from dashboard.wording import numbers, sizes
from rmqcore.model.topic import dead_letter_topic

from .reads import Mark

CHOICE_FORM: Final = "choice"
"""The id of the form that the check boxes of the table belong to."""

_MAYBE: Final = ResentLetter.State.SENDING


def letter_table(
    cluster: Cluster,
    group: str,
    masks: Masks,
    marks: Mapping[str, Mark],
    *,
    choose: bool,
) -> Table[DeadLetter]:
    """Return the table of a group's dead letters, the newest first.

    With `choose`, each row has a check box of the form `CHOICE_FORM`.
    """

    def keys(letter: DeadLetter) -> str:
        return shown_properties(letter.message, masks).get("KEYS", "")

    def tag(letter: DeadLetter) -> str:
        return shown_properties(letter.message, masks).get("TAGS", "")

    def box(letter: DeadLetter) -> SafeString:
        return format_html(
            '<label class="check"><input type="checkbox" name="letter" value="{}"'
            ' form="{}"><span class="unseen">{}</span></label>',
            *(letter.id, CHOICE_FORM, letter.message.msg_id),
        )

    def stored(letter: DeadLetter) -> SafeString:
        return format_html(
            '<a href="{}" data-open>{}</a>',
            message_url(cluster.name, letter.message),
            exact(letter.message.store_timestamp),
        )

    def resent(letter: DeadLetter) -> int | None:
        mark = marks.get(letter.id)
        return None if mark is None else mark.run

    def resent_said(letter: DeadLetter) -> str:
        mark = marks.get(letter.id)
        if mark is None:
            return ""
        said = _("maybe, run %(n)s") if mark.state == _MAYBE else _("run %(n)s")
        url = reverse("group_dead_letters_run", args=[cluster.name, group, mark.run])
        return format_html('<a href="{}">{}</a>', url, said % {"n": mark.run})

    choice: Column[DeadLetter] = Column(
        *("letter", _("Choose"), lambda each: each.id, box),
        sorts=False,
        fixed=True,
        css="letter-choice",
        head=_choose_all(),
    )
    return Table(
        title=_("Dead letters"),
        filter_title=_("Filter by key, tag or id"),
        columns=[
            *([choice] if choose else []),
            Column(
                *("stored", _("Stored"), lambda e: e.message.store_timestamp, stored),
                css="mono",
                falls=True,
                fixed=True,
            ),
            Column(
                *("topic", _("Original topic"), lambda e: e.topic),
                *(lambda e: e.topic or unknown("no_property"), "cut"),
                narrow=True,
                unknown=lambda e: "no_property",
            ),
            Column("tag", _("Tag"), tag, lambda e: _tag(tag(e)), narrow=True),
            Column(
                *("keys", _("Keys"), keys, keys, "cut"),
                narrow=True,
                copies=keys,
            ),
            Column(
                *("tries", _("Times tried"), lambda e: e.message.reconsume_times),
                *(lambda e: str(e.message.reconsume_times), "num"),
                falls=True,
                narrow=True,
            ),
            Column(
                *("resent", _("Resent"), resent, resent_said),
                narrow=True,
                falls=True,
                unknown=lambda e: "not_resent",
            ),
            Column(
                *("host", _("Sent by"), lambda e: e.message.born_host),
                lambda e: e.message.born_host,
            ),
            Column(
                *("store", _("Stored on"), lambda e: e.message.store_host),
                lambda e: e.message.store_host,
                shown=False,
            ),
            Column(
                *("queue", _("Queue"), _queue, _queue),
                shown=False,
            ),
            Column(
                *("offset", _("Offset"), lambda e: e.message.queue_offset),
                *(lambda e: numbers.count(e.message.queue_offset), "num"),
                shown=False,
                falls=True,
            ),
            Column(
                *("size", _("Size"), lambda e: e.body_bytes),
                *(lambda e: sizes.size(e.body_bytes), "num"),
                falls=True,
                shown=False,
            ),
            Column(
                *("unique", _("Unique key"), lambda e: e.message.msg_id),
                *(lambda e: e.message.msg_id, "mono cut"),
                copies=lambda e: e.message.msg_id,
            ),
            Column(
                *("origin", _("Original id"), lambda e: e.origin_id or None),
                *(lambda e: e.origin_id or unknown("no_property"), "mono cut"),
                copies=lambda e: e.origin_id,
                shown=False,
                unknown=lambda e: "no_property",
            ),
            Column(
                *("born", _("Born"), lambda e: e.message.born_timestamp),
                *(lambda e: exact(e.message.born_timestamp), "mono"),
                shown=False,
            ),
        ],
        key=lambda e: e.id,
        rank=lambda e: (-e.message.store_timestamp, -e.message.queue_offset),
        texts=lambda e: (keys(e), tag(e), e.message.msg_id, e.origin_id),
        segments=[
            Chip("new", _("Not resent"), lambda e: e.id not in marks),
            Chip("resent", _("Resent"), lambda e: e.id in marks),
        ],
        facets=[
            Facet("topic", _("Original topic"), lambda e: [e.topic or ""]),
            Facet("tag", _("Tag"), lambda e: [tag(e)]),
            Facet("host", _("Sent by"), lambda e: [e.born_on]),
            Facet(
                "tries", _("Times tried"), lambda e: [str(e.message.reconsume_times)]
            ),
        ],
    )


def sent_table(run: ResendRun) -> Table[ResentLetter]:
    """Return the table of a run's letters, in the order in which they are sent."""
    cluster, dead = run.cluster.name, dead_letter_topic(run.group)

    def letter(each: ResentLetter) -> SafeString:
        place = Place(dead, each.broker, each.queue_id, each.offset)
        return format_html(
            '<a href="{}" data-open>{}</a>',
            *(place_url(cluster, place), exact(each.stored_at_ms)),
        )

    def sent_to(each: ResentLetter) -> str:
        if each.sent_queue_id is None or each.sent_offset is None:
            return ""
        place = Place(
            each.sent_topic, each.sent_broker, each.sent_queue_id, each.sent_offset
        )
        return format_html('<a href="{}">{}</a>', place_url(cluster, place), str(place))

    return Table(
        title=_("Letters of this run"),
        filter_title=_("Filter by key or topic"),
        columns=[
            Column(
                *("stored", _("Dead letter"), lambda e: e.stored_at_ms, letter, "mono"),
                fixed=True,
            ),
            Column(
                *("state", _("State"), lambda e: e.state),
                lambda e: e.get_state_display(),
                narrow=True,
                flash=True,
            ),
            Column(
                *("unique", _("Unique key"), lambda e: e.unique_key),
                *(lambda e: e.unique_key, "mono cut"),
                copies=lambda e: e.unique_key,
                narrow=True,
            ),
            Column(
                *("topic", _("Original topic"), lambda e: e.origin_topic),
                *(lambda e: e.origin_topic or unknown("no_property"), "cut"),
            ),
            Column(
                *("sent_to", _("Stored again at"), lambda e: e.sent_topic, sent_to),
                css="cut",
                narrow=True,
            ),
            Column(
                *("error", _("Error"), lambda e: e.error, lambda e: e.error),
                narrow=True,
            ),
        ],
        key=lambda e: str(e.pk),
        rank=lambda e: e.number,
        texts=lambda e: (e.unique_key, e.origin_topic, e.sent_topic),
        segments=[
            Chip(state.value, str(state.label), _in(state))
            for state in ResentLetter.State
        ],
    )


def _choose_all() -> SafeString:
    """Draw the check box for all rows that are shown; a script answers it."""
    return format_html(
        '<label class="check"><input type="checkbox" data-choose-all>'
        ' <span class="letter-all">{}</span></label>',
        _("Choose all that are shown"),
    )


def _in(state: ResentLetter.State) -> Callable[[ResentLetter], bool]:
    return lambda each: each.state == state


def _queue(letter: DeadLetter) -> str:
    return f"{letter.message.broker_name} / {letter.message.queue_id}"


def _tag(tag: str) -> str:
    return format_html('<span class="tag">{}</span>', tag) if tag else ""
