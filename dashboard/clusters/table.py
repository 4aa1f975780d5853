"""The table of all clusters."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.frame.tables import Column, Table
from dashboard.frame.tags import as_of, icon, state_icon, unknown, version
from dashboard.overview.tags import trend
from dashboard.wording import numbers

from .reads import ClusterRow, rank
from .said import say_state, say_what

CSV_NAME = "clusters"


def table_of(now_ms: int, *, may_administer: bool) -> Table[ClusterRow]:
    """Return the table; admins get a link to remove what was attached on a page."""
    return Table(
        title=_("Clusters"),
        filter_title=_("Filter clusters"),
        columns=[
            *_first_columns(now_ms),
            *_figures(),
            Column(
                "source",
                _("Named by"),
                lambda row: "page" if row.cluster.attached else "settings",
                lambda row: _source(row, may_administer=may_administer),
                shown=may_administer,
            ),
        ],
        key=lambda row: row.name,
        rank=rank,
        texts=lambda row: (row.name, say_what(row, now_ms)),
        css=lambda row: "" if row.whole else "striped",
    )


def _first_columns(now_ms: int) -> list[Column[ClusterRow]]:
    return [
        Column(
            "state",
            _("State"),
            lambda row: row.state,
            _state,
            fixed=True,
        ),
        Column(
            "cluster",
            _("Cluster"),
            lambda row: row.name,
            _name,
            css="cut strong beside",
            fixed=True,
        ),
        Column(
            "what",
            _("What"),
            lambda row: say_what(row, now_ms),
            lambda row: say_what(row, now_ms),
            css="what",
            sorts=False,
            narrow=True,
        ),
    ]


def _figures() -> list[Column[ClusterRow]]:
    return [
        Column(
            "groups",
            _("Groups"),
            lambda row: row.fresh.groups if row.fresh else None,
            _groups,
            css="num",
            falls=True,
            unknown=_why,
            partial=_in_part,
        ),
        Column(
            "look",
            _("Need a look"),
            lambda row: row.look,
            lambda row: _number(row, row.look),
            css="num strong",
            falls=True,
            unknown=_why,
            partial=_in_part,
        ),
        Column(
            "lag",
            _("Lag"),
            lambda row: row.fresh.lag if row.fresh else None,
            lambda row: _number(row, row.fresh.lag if row.fresh else None),
            css="num strong",
            falls=True,
            narrow=True,
            unknown=_why,
            partial=lambda row: row.fresh is not None and row.fresh.lag_partial,
        ),
        Column(
            "trend",
            _("1 h"),
            lambda row: list(row.fresh.trend) if row.fresh else None,
            lambda row: trend(row.fresh.trend if row.fresh else (), row.level),
            sorts=False,
        ),
        Column(
            "brokers",
            _("Brokers"),
            lambda row: row.fresh.answering if row.fresh else None,
            _brokers,
            css="num",
            unknown=_why,
        ),
        Column(
            "version",
            "RocketMQ",
            lambda row: _versions(row) or None,
            lambda row: _versions(row) or unknown("not_reported"),
            unknown=_why,
        ),
    ]


def _state(row: ClusterRow) -> SafeString:
    name = "falling_behind" if row.is_behind and row.state == "warning" else ""
    return format_html(
        '<span class="state {}">{}{}</span>',
        *(row.level, icon(state_icon(row.level, name)), say_state(row)),
    )


def _name(row: ClusterRow) -> SafeString:
    tag: str | SafeString = ""
    if row.cluster.embedded:
        tag = format_html(' <span class="tag">{}</span>', _("demo"))
    elif why := row.cluster.why_read_only:
        tag = format_html(
            ' <span class="tag" title="{}">{}</span>', why, _("read-only")
        )
    address = reverse("cluster", args=[row.name])
    return format_html(
        '<a href="{}" title="{}" data-open>{}</a>{}', address, row.name, row.name, tag
    )


def _groups(row: ClusterRow) -> str:
    if row.fresh is not None:
        return numbers.count(row.fresh.groups)
    if row.summary is None or not row.summary.ever:
        return _dash(row)
    mark, groups = as_of(row.summary.as_of), numbers.count(row.summary.groups)
    return format_html("{} {}", mark, groups)


def _in_part(row: ClusterRow) -> bool:
    return not row.whole


def _brokers(row: ClusterRow) -> str:
    if row.summary is None or not row.summary.ever:
        return _dash(row)
    answering = _dash(row) if row.fresh is None else row.fresh.answering
    said = _("%(n)s of %(all)s") % {"n": "{0}", "all": "{1}"}
    return format_html(said, answering, row.summary.brokers)


def _versions(row: ClusterRow) -> str:
    return ", ".join(map(version, row.summary.versions)) if row.summary else ""


def _number(row: ClusterRow, value: int | None) -> str:
    return _dash(row) if value is None else numbers.count(value)


def _dash(row: ClusterRow) -> SafeString:
    return format_html(
        '<span class="unknown" tabindex="0" title="{}">—'
        '<span class="unseen"> {}</span></span>',
        *(_why(row), _why(row)),
    )


def _why(row: ClusterRow) -> str:
    """Say why a number of a cluster is not known."""
    if row.summary is None or not row.summary.ever:
        return _("It has never answered.")
    if row.fresh is not None:
        return _("No broker or group has reported it.")
    time = numbers.clock(row.summary.as_of)
    return _("Nothing is known since %(time)s.") % {"time": time}


def _source(row: ClusterRow, *, may_administer: bool) -> Any:
    if not row.cluster.attached:
        return _("settings")
    if row.cluster.embedded:
        return _("started on request")
    if not may_administer:
        return _("page")
    return format_html(
        '{} · <a href="{}">{}</a>',
        *(_("page"), reverse("cluster_remove", args=[row.name]), _("Remove…")),
    )
