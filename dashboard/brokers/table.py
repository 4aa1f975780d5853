"""The table of broker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _

from dashboard.frame.tables import Chip, Column, Facet, Table
from dashboard.frame.tables.table import natural
from dashboard.frame.tags import as_of, icon, unknown
from dashboard.frame.tags import version as plain_version
from dashboard.live.broker_documents import BrokerFigures
from dashboard.wording import numbers
from dashboard.wording.sizes import percent, size

from .reads import LEVELS, BrokerRow

Get = Callable[[BrokerFigures], Any]
Write = Callable[[Any], str]


def broker_table(cluster: str) -> Table[BrokerRow]:
    """Return the table of a cluster's brokers, worst first."""
    return Table(
        title=_("Brokers, worst first"),
        filter_title=_("Filter brokers"),
        columns=[*_who(cluster), *_traffic(), *_disk(), *_load()],
        key=lambda row: row.key,
        rank=lambda row: (LEVELS.index(row.level), natural(row.key)),
        texts=lambda row: (row.state["name"], row.state["address"]),
        segments=[
            Chip("look", _("Needs a look"), lambda row: row.level in {"crit", "warn"}),
            Chip("masters", _("Masters"), lambda row: row.is_master),
            Chip("slaves", _("Slaves"), lambda row: not row.is_master),
        ],
        facets=[Facet("version", _("Version"), _versions)],
        css=lambda row: "" if row.fresh else "striped",
    )


def _who(cluster: str) -> list[Column[BrokerRow]]:
    def name(row: BrokerRow) -> str:
        address = reverse("broker", args=[cluster, row.state["name"]])
        return format_html(
            '<a href="{}" title="{}" data-open>{}</a> <span class="dim">{}</span>',
            *(address, row.state["address"], row.state["name"], role(row)),
        )

    return [
        Column(
            "broker",
            _("Broker"),
            lambda row: row.key,
            name,
            css="strong",
            fixed=True,
            narrow=True,
        ),
        Column(
            "state",
            _("State"),
            lambda row: LEVELS.index(row.level),
            state,
            css="wrap",
            narrow=True,
        ),
        Column(
            "version",
            _("Version"),
            lambda row: row.figures and row.figures["version"],
            lambda row: (
                (row.figures and plain_version(row.figures["version"]))
                or unknown(row.why("version"))
            ),
            unknown=lambda row: row.why("version"),
        ),
        Column(
            "address",
            _("Address"),
            lambda row: row.state["address"],
            lambda row: row.state["address"],
            shown=False,
            copies=lambda row: row.state["address"],
        ),
    ]


def _traffic() -> list[Column[BrokerRow]]:
    return [
        _figure("in", _("In/s"), _rate_in, numbers.rate, "rates_in", narrow=True),
        _figure("out", _("Out/s"), _rate_out, numbers.rate, "rates_out"),
        _figure("p99", _("Put p99"), lambda f: f["put_p99_ms"], _ms, "put_p99_ms"),
        _figure("p999", _("Put p99.9"), lambda f: f["put_p999_ms"], _ms, "put_p999_ms"),
    ]


def _disk() -> list[Column[BrokerRow]]:
    def full(row: BrokerRow) -> str:
        left = row.state["full_in_ms"]
        if left is None:
            return unknown(row.state["full_why"])
        return numbers.duration(left)

    return [
        _figure("disk", _("Disk"), _disk_ratio, percent, "disk_ratio", narrow=True),
        Column(
            "full",
            _("Full in"),
            lambda row: row.state["full_in_ms"],
            full,
            css="num",
            unknown=lambda row: row.state["full_why"] or "",
        ),
        Column(
            "in_sync",
            _("Slaves in sync"),
            lambda row: row.replicas and row.replicas["in_sync"],
            _in_sync,
            css="num",
            shown=False,
            unknown=_no_replicas,
        ),
        Column(
            "behind",
            _("Behind master"),
            lambda row: row.state["behind_bytes"],
            _behind,
            css="num",
            falls=True,
            unknown=lambda row: "is_master" if row.is_master else "master_silent",
        ),
    ]


def _behind(row: BrokerRow) -> str:
    behind = row.state["behind_bytes"]
    if row.is_master:
        return unknown("is_master")
    return unknown("master_silent") if behind is None else size(behind)


def _in_sync(row: BrokerRow) -> str:
    found = row.replicas
    return unknown(_no_replicas(row)) if found is None else str(found["in_sync"])


def _no_replicas(row: BrokerRow) -> str:
    return row.replicas_why if row.is_master else "is_slave"


def _load() -> list[Column[BrokerRow]]:
    return [
        _figure(
            "flush", _("To flush"), lambda f: f["flush_bytes"], size, "flush_bytes"
        ),
        _figure(
            "dispatch",
            _("To index"),
            lambda f: f["dispatch_bytes"],
            size,
            "dispatch_bytes",
        ),
        Column(
            "wait",
            _("Longest wait"),
            lambda row: row.wait_ms,
            lambda row: (
                unknown(row.why("pools"))
                if row.wait_ms is None
                else numbers.duration(row.wait_ms)
            ),
            css="num",
            falls=True,
            unknown=lambda row: row.why("pools"),
        ),
        _figure(
            "page_cache",
            _("Page cache"),
            lambda f: f["page_cache_ms"],
            _ms,
            "page_cache_ms",
            shown=False,
        ),
        _figure("up", _("Up since"), lambda f: f["boot_at"], _moment, "boot_at"),
        _figure(
            "oldest",
            _("Oldest message"),
            lambda f: f["earliest_at"],
            _moment,
            "earliest_at",
            shown=False,
        ),
    ]


def _figure(
    key: str,
    title: str,
    get: Get,
    write: Write,
    reason: str,
    *,
    narrow: bool = False,
    shown: bool = True,
) -> Column[BrokerRow]:
    """Return a column of one figure; without it, the dash has the reason."""

    def value(row: BrokerRow) -> Any:
        return None if row.figures is None else get(row.figures)

    def draw(row: BrokerRow) -> str:
        found = value(row)
        return unknown(row.why(reason)) if found is None else write(found)

    return Column(
        key,
        title,
        value,
        draw,
        css="num",
        falls=True,
        narrow=narrow,
        shown=shown,
        unknown=lambda row: row.why(reason),
    )


def role(row: BrokerRow) -> str:
    """Write a process's role: master, or slave with its number."""
    if row.is_master:
        return _("master")
    return _("slave %(id)s") % {"id": row.state["broker_id"]}


def state(row: BrokerRow) -> str:
    """Draw the state of a broker process: what is wrong with it, or that it answers."""
    old = ""
    if not row.fresh and row.figures and row.state["answered_at"]:
        old = as_of(row.state["answered_at"])
    if not row.troubles:
        return format_html(
            '<span class="state ok">{}{}</span>{}', icon("ok"), _("answers"), old
        )
    return format_html("{}{}", _said(row.troubles), old)


def _said(troubles: Iterable[tuple[str, str]]) -> str:
    return format_html_join(
        " ",
        '<span class="state said {}">{}{}</span>',
        ((level, icon(level), text) for level, text in troubles),
    )


def _versions(row: BrokerRow) -> Iterable[str]:
    found = row.figures and row.figures["version"]
    return [plain_version(found)] if found else []


def _rate_in(figures: BrokerFigures) -> float | None:
    return figures["rates_in"][0]


def _rate_out(figures: BrokerFigures) -> float | None:
    return figures["rates_out"][0]


def _disk_ratio(figures: BrokerFigures) -> float | None:
    return figures["disk_ratio"]


def _ms(value: float) -> str:
    """Write a short time with its fractions: 0.42 ms, 18 ms."""
    return f"{value:.2f} ms" if value < 10 else f"{numbers.count(value)} ms"


def _moment(milliseconds: int) -> str:
    return numbers.day_and_time(milliseconds)
