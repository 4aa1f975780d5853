"""The tables of clients and of producers."""

from __future__ import annotations

from collections.abc import Sequence

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from dashboard.frame.tables import Chip, Column, Facet, Setting, Table
from dashboard.frame.tables.table import natural
from dashboard.frame.tags import icon, unknown
from dashboard.frame.tags import version as plain_version
from dashboard.wording import numbers

from .reads import OLDEST, Client, version_of, written

LEVELS = ("crit", "warn", "info")
NAMED = 2


def client_table(cluster: str) -> Table[Client]:
    """Return the table of a cluster's clients, those with a note first."""
    return Table(
        title=_("Clients"),
        filter_title=_("Filter clients"),
        columns=[*_who(cluster), *_what(cluster)],
        key=lambda row: row.client_id,
        rank=lambda row: (
            min((LEVELS.index(n.level) for n in row.notes), default=len(LEVELS)),
            natural(row.client_id),
        ),
        texts=lambda row: (row.client_id, *row.groups, *row.topics, *row.hosts),
        segments=[
            Chip("shared", _("Shared ids"), lambda row: _has(row, "shared"), "shared"),
            Chip("old", _("Old versions"), lambda row: _has(row, "old"), "warn"),
        ],
        facets=[
            Facet("language", _("Language"), lambda row: row.languages),
            Facet(
                "version", _("Version"), lambda row: map(plain_version, row.versions)
            ),
            Facet("host", _("Host"), lambda row: row.hosts),
        ],
        settings=[
            Setting(
                "older",
                _("Old before"),
                lambda row: map(written, row.releases),
                lambda text: version_of(text) is not None,
                OLDEST,
            )
        ],
    )


def _who(cluster: str) -> list[Column[Client]]:
    def name(row: Client) -> str:
        address = reverse("client", args=[cluster, row.client_id])
        return format_html(
            '<a href="{}" data-open>{}</a>', address, row.client_id or "“”"
        )

    return [
        Column(
            "client",
            _("Client"),
            lambda row: row.client_id,
            name,
            css="name strong",
            fixed=True,
            narrow=True,
            copies=lambda row: row.client_id,
        ),
        Column(
            "notes",
            _("What"),
            lambda row: [note.text for note in row.notes],
            notes,
            css="name",
            sorts=False,
            narrow=True,
        ),
        Column(
            "language",
            _("Language"),
            lambda row: ", ".join(row.languages) or None,
            lambda row: ", ".join(row.languages) or unknown("not_listed"),
        ),
        Column(
            "version",
            _("Version"),
            lambda row: row.versions[0] if row.versions else None,
            lambda row: (
                ", ".join(map(plain_version, row.versions)) or unknown("not_listed")
            ),
            narrow=True,
        ),
        Column(
            "host",
            _("Host"),
            lambda row: ", ".join(row.hosts) or None,
            lambda row: ", ".join(row.hosts) or unknown("not_listed"),
        ),
    ]


def _what(cluster: str) -> list[Column[Client]]:
    return [
        Column(
            "groups",
            _("Groups"),
            lambda row: row.groups,
            lambda row: linked_groups(cluster, row.groups),
            css="name",
            sorts=False,
            narrow=True,
        ),
        Column(
            "queues",
            _("Queues"),
            lambda row: row.queues,
            lambda row: (
                unknown(row.why_queues)
                if row.queues is None
                else numbers.count(row.queues)
            ),
            css="num",
            falls=True,
            unknown=lambda row: row.why_queues,
        ),
        Column(
            "topics",
            _("Topics"),
            lambda row: row.topics,
            lambda row: _few(row.topics),
            css="cut",
            sorts=False,
        ),
        Column(
            "since",
            _("Since"),
            lambda row: row.since,
            since,
            css="num",
        ),
    ]


def linked_groups(cluster: str, groups: Sequence[str]) -> str:
    """Write a client's groups, the first ones as links."""
    first = format_html_join(
        ", ",
        '<a href="{}">{}</a>',
        ((reverse("group", args=[cluster, each]), each) for each in groups[:NAMED]),
    )
    more = len(groups) - NAMED
    if more <= 0:
        return first
    return format_html("{} {}", first, _("and %(n)s more") % {"n": more})


def notes(row: Client) -> str:
    """Draw what is to know about a client, a line for each."""
    return format_html_join(
        "",
        '<span class="state said {}">{}{}</span> ',
        ((note.level, icon(_icon(note.kind)), note.text) for note in row.notes),
    )


def since(row: Client) -> str:
    """Write since when a client runs, or since when it was seen if it did not say."""
    text = numbers.day_and_time(row.since)
    if row.since_reported:
        return text
    return format_html('<span class="dim">{}</span> {}', _("seen since"), text)


def _icon(kind: str) -> str:
    return "shared" if kind == "shared" else "warn"


def _has(row: Client, kind: str) -> bool:
    return any(note.kind == kind for note in row.notes)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMED])
    more = len(names) - NAMED
    return f"{shown} +{more}" if more > 0 else shown
