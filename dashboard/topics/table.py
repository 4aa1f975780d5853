"""The table of a cluster's topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.frame.tables import Chip, Column, Facet, Table
from dashboard.frame.tags import unknown
from dashboard.live.topic_documents import TopicRow
from dashboard.wording import numbers
from dashboard.wording.words import word

from .reads import (
    brokers_of,
    is_idle,
    knows_groups,
    queues_text,
    rank_of,
    type_label,
    type_of,
)
from .retention import Keeping, Retention, retention_of

TYPES: Final = ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "retry", "dlq")
Draw = Callable[[TopicRow], str]


def topics_table(
    cluster: str, kept: Mapping[str, Keeping], now_ms: int
) -> Table[TopicRow]:
    """Return the table, with links into that cluster.

    `kept` is how long each broker keeps messages.
    """
    return Table(
        title=_("Topics, worst first"),
        filter_title=_("Filter topics"),
        columns=[*_columns(cluster), _retention_column(kept)],
        key=lambda row: row["topic"],
        rank=rank_of,
        texts=lambda row: [row["topic"], *(each["group"] for each in row["groups"])],
        segments=[_type_chip(each) for each in TYPES],
        hidden=[
            Chip("system", "SYSTEM", lambda row: row["kind"] == "system"),
            Chip("idle", _("Idle"), lambda row: is_idle(row, now_ms)),
        ],
        facets=[
            Facet("broker", _("Broker"), _brokers),
            Facet("group", _("Group"), lambda row: [g["group"] for g in row["groups"]]),
            Facet("state", _("State"), lambda row: [_state(row)]),
        ],
        css=lambda row: "striped" if row["status"]["word"] == "half_known" else "",
    )


def _columns(cluster: str) -> list[Column[TopicRow]]:
    return [
        Column("state", _("State"), _state, _draw_state, fixed=True),
        Column(
            "topic",
            _("Topic"),
            lambda row: row["topic"],
            lambda row: _link("topic", cluster, row["topic"], "data-open"),
            css="cut strong",
            fixed=True,
            copies=lambda row: row["topic"],
        ),
        Column("type", _("Type"), type_of, _draw_type),
        Column(
            "queues",
            _("Queues"),
            lambda row: row["queues"],
            queues_text,
            css="num",
            falls=True,
        ),
        Column(
            "in",
            _("In/s"),
            lambda row: row["rate_in"],
            _draw_rate,
            css="num strong",
            falls=True,
            narrow=True,
            unknown=lambda row: word("unknown", _no_rate(row)),
            partial=lambda row: row["rate_partial"],
        ),
        Column(
            "groups",
            _("Groups"),
            lambda row: row["group_count"],
            lambda row: numbers.count(row["group_count"]),
            css="num",
            falls=True,
            partial=lambda row: not knows_groups(row),
        ),
        Column(
            "worst",
            _("Worst group"),
            _worst,
            lambda row: _draw_worst(cluster, row),
            css="cut",
            unknown=lambda row: word("unknown", "groups_unsure"),
        ),
        Column(
            "lag",
            _("Its lag"),
            lambda row: row["groups"][0]["lag"] if row["groups"] else None,
            _draw_lag,
            css="num",
            falls=True,
            narrow=True,
            unknown=lambda row: word("unknown", "no_lag"),
            partial=lambda row: row["groups"][0]["partial"],
        ),
        Column(
            "skew",
            _("Skew"),
            lambda row: row["skew"],
            lambda row: _ratio(row["skew"]),
            css="num",
            falls=True,
            unknown=lambda row: word("unknown", "no_traffic"),
            term="skew",
        ),
        Column(
            "oldest",
            _("Oldest waiting"),
            lambda row: row["oldest_ms"],
            _draw_oldest,
            css="num",
            falls=True,
            unknown=lambda row: word("unknown", "not_asked"),
            partial=lambda row: row["oldest_partial"],
        ),
        Column(
            "held",
            _("Messages held"),
            lambda row: row["held"],
            lambda row: _count(row["held"]),
            css="num",
            falls=True,
            shown=False,
        ),
    ]


def _retention_column(kept: Mapping[str, Keeping]) -> Column[TopicRow]:
    """Return the column of what is left; a time that may be less is not known."""

    def left(row: TopicRow) -> Retention:
        return retention_of(row, kept)

    return Column(
        "retention",
        _("Retention left"),
        lambda row: left(row).sure_ms,
        lambda row: _draw_left(left(row)),
        css="num",
        unknown=lambda row: left(row).reason,
    )


def _type_chip(key: str) -> Chip[TopicRow]:
    return Chip(key, type_label(key), lambda row: type_of(row) == key)


def _state(row: TopicRow) -> str:
    return word("topic", row["status"]["word"])


def _brokers(row: TopicRow) -> list[str]:
    return brokers_of(row)


def _draw_state(row: TopicRow) -> str:
    return render_to_string("topics/state.html", {"status": row["status"]})


def _draw_type(row: TopicRow) -> SafeString:
    return format_html('<span class="tag">{}</span>', type_label(type_of(row)))


def _no_rate(row: TopicRow) -> str:
    reasons = [each["reason"] for each in row["brokers"] if each["reason"]]
    return reasons[0] if reasons else "first_sample"


def _draw_rate(row: TopicRow) -> str:
    if row["rate_in"] is None:
        return unknown(_no_rate(row))
    return numbers.rate(row["rate_in"])


def _worst(row: TopicRow) -> str | None:
    if row["groups"]:
        return row["groups"][0]["group"]
    return "" if knows_groups(row) else None


def _draw_worst(cluster: str, row: TopicRow) -> str:
    if not row["groups"] and not knows_groups(row):
        return unknown("groups_unsure")
    if not row["groups"]:
        return format_html('<span class="dim">{}</span>', _("no group reads it"))
    worst = row["groups"][0]
    state = render_to_string("topics/mark.html", {"level": worst["level"]})
    return format_html("{} {}", state, _link("group", cluster, worst["group"], ""))


def _draw_lag(row: TopicRow) -> str:
    if not row["groups"]:
        return unknown("no_lag")
    worst = row["groups"][0]
    if worst["lag"] is None:
        return unknown("broadcasting" if worst["kind"] == "broadcasting" else "")
    return numbers.count(worst["lag"])


def _draw_oldest(row: TopicRow) -> str:
    if row["oldest_ms"] is None:
        return unknown("not_asked" if row["groups"] else "no_lag")
    return numbers.duration(row["oldest_ms"])


def _draw_left(left: Retention) -> str:
    if left.ms is None:
        return unknown(left.why)
    if left.soon:
        mark = render_to_string("topics/mark.html", {"level": "warn"})
        css = "retention-soon"
        return format_html(
            '<span class="{}" title="{}">{} {}</span>', css, left.told, mark, left.text
        )
    return format_html('<span title="{}">{}</span>', left.told, left.text)


def _ratio(value: float | None) -> str:
    return unknown("no_traffic") if value is None else numbers.ratio(value)


def _count(value: int | None) -> str:
    return unknown("not_asked") if value is None else numbers.count(value)


def _link(place: str, cluster: str, name: str, mark: str) -> SafeString:
    address = reverse(place, args=[cluster, name])
    data = format_html(" {}", mark) if mark else ""
    return format_html('<a href="{}" title="{}"{}>{}</a>', address, name, data, name)
