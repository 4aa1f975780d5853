"""The list of groups of a cluster as a table.

The document lists the worst groups first, and that order is kept where no column
decides. A group that looks healthy but is known only in part stands among the unknown,
above the healthy. Groups without anybody online are hidden until they are asked for,
unless something about them needs a look.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter
from typing import Final

from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.accounts.owners import NOBODY, Owner, Owners
from dashboard.brokers.reach import is_partial
from dashboard.findings.tags import finding_title
from dashboard.frame import tags
from dashboard.frame.tables import Chip, Column, Facet, Table
from dashboard.live.documents import OverviewRow
from dashboard.wording.markup import fill
from dashboard.wording.words import word

from .tags import trend

LEVELS: Final = ("crit", "warn", "unk", "ok")
_LINKS_KEPT: Final = 4096
"""Groups whose link is not drawn again at each sweep, 0.4 kB each."""
_TOPICS_NAMED: Final = 2


Holders = Callable[[], Mapping[str, Sequence[str]]]
"""Reads the client ids that own queues, by group."""


def groups_table(
    cluster: str,
    holders: Holders = dict,
    owners: Owners = NOBODY,
    mine: Collection[int] = (),
) -> Table[OverviewRow]:
    """Return the table of a cluster's groups; words are in the reader's language.

    `holders` is only called, once, where groups are picked by an owner of queues.
    `owners` are the teams that own groups, `mine` the keys of the reader's own.
    """
    holders = cache(holders)
    kind = cache(partial(word, "kind"))

    def owner(row: OverviewRow) -> Owner | None:
        return owners.of(row["group"])

    def is_mine(row: OverviewRow) -> bool:
        found = owner(row)
        return found is not None and found.key in mine

    return Table(
        title=_("Groups, worst first"),
        filter_title=_("Filter groups"),
        columns=[
            *_what_it_is(cluster),
            *_who_answers(owner, shown=not owners.is_empty),
            *_what_waits(),
            *_how_it_is_divided(),
        ],
        key=lambda row: row["group"],
        rank=doubt,
        rank_reads=("status", "complete", "lag_partial"),
        texts=lambda row: [row["group"], *row["topics"]],
        texts_reads=("group", "topics"),
        segments=[
            Chip(
                level,
                title,
                partial(_has_level, level),
                icon=level,
                reads=("status",),
            )
            for level, title in zip(
                LEVELS,
                (_("Critical"), _("Warning"), _("Unknown"), _("Healthy")),
                strict=True,
            )
        ],
        hidden=[Chip("offline", _("Offline"), is_resting, reads=("kind", "status"))],
        only=[_mine(is_mine, frozenset(mine))] if mine else [],
        facets=[
            _teams(owners),
            Facet("kind", _("Kind"), lambda row: [kind(row["kind"])], reads=("kind",)),
            Facet("strategy", _("Strategy"), _strategies, reads=("strategy",)),
            Facet("topic", _("Topic"), lambda row: row["topics"], reads=("topics",)),
            Facet(
                "broker",
                _("Broker"),
                lambda row: row.get("brokers", ()),
                reads=("brokers",),
            ),
            Facet("version", _("Version"), _versions, reads=("versions",)),
            Facet(
                "owner",
                _("Owner"),
                lambda row: holders().get(row["group"], ()),
                typed=True,
                reads=("group",),
            ),
        ],
        css=lambda row: "striped" if row["status"]["word"] == "unknown" else "",
        segment_name="level",
    )


def _mine(
    test: Callable[[OverviewRow], bool], mine: frozenset[int]
) -> Chip[OverviewRow]:
    return Chip("mine", _("My groups"), test, reads=("group",), readers=mine)


def doubt(row: OverviewRow) -> int:
    """Rank by level; a healthy group that is known only in part ranks as unknown."""
    level = row["status"]["level"]
    return LEVELS.index("unk" if level == "ok" and is_partial(row) else level)


def is_resting(row: OverviewRow) -> bool:
    """Tell whether nobody is online and nothing about it needs a look."""
    return row["kind"] == "offline" and row["status"]["level"] in {"unk", "ok"}


def _has_level(level: str, row: OverviewRow) -> bool:
    return row["status"]["level"] == level


def _strategies(row: OverviewRow) -> list[str]:
    name = row["strategy"]["name"]
    return [name] if name else []


def _versions(row: OverviewRow) -> list[str]:
    return [tags.version(each) for each in row.get("versions", ())]


def _what_it_is(cluster: str) -> Sequence[Column[OverviewRow]]:
    # Most rows of a page have one of a few states.
    state = cache(_state)

    return [
        Column(
            "state",
            _("State"),
            lambda row: word("status", row["status"]["word"]),
            lambda row: _with_age(
                state(row["status"]["level"], row["status"]["word"]), row
            ),
            css="beside",
            narrow=True,
            flash=True,
            sorts=False,
        ),
        Column(
            "group",
            _("Group"),
            itemgetter("group"),
            lambda row: _link(cluster, row["group"]),
            css="cut strong",
            fixed=True,
            copies=lambda row: row["group"],
            reads=("group",),
        ),
        Column(
            "topics",
            _("Topics"),
            lambda row: row["topics"],
            _topics,
            css="cut",
            sorts=False,
        ),
        Column(
            "what",
            _("What"),
            lambda row: None,
            partial(what, cluster),
            css="cut dim",
            sorts=False,
        ),
    ]


@lru_cache(maxsize=_LINKS_KEPT)
def _link(cluster: str, group: str) -> SafeString:
    address = reverse("group", args=[cluster, group])
    return fill('<a href="{}" title="{}" data-open>{}</a>', address, group, group)


def _teams(owners: Owners) -> Facet[OverviewRow]:
    if owners.is_empty:
        return Facet("team", _("Team"), lambda row: (), reads=("kind",))
    of = owners.of

    def team(row: OverviewRow) -> Sequence[str]:
        found = of(row["group"])
        return (found.team,) if found else ()

    return Facet("team", _("Team"), team, reads=("group",))


def _who_answers(
    owner: Callable[[OverviewRow], Owner | None], *, shown: bool
) -> Sequence[Column[OverviewRow]]:
    @cache
    def team(found: Owner | None) -> str:
        if found is None:
            return ""
        return fill(
            '<a href="{}" title="{}">{}</a>',
            *(reverse("team", args=[found.key]), found.team, found.team),
        )

    def contact(row: OverviewRow) -> str:
        found = owner(row)
        return found.contact if found else ""

    return [
        Column(
            "team",
            _("Team"),
            lambda row: found.team if (found := owner(row)) else None,
            lambda row: team(owner(row)),
            css="cut team",
            shown=shown,
            unknown=lambda row: _("No team owns this group"),
            reads=("group",),
        ),
        Column(
            "contact",
            _("Contact"),
            contact,
            lambda row: tags.contact(contact(row)),
            css="cut",
            shown=False,
            sorts=False,
        ),
    ]


def _what_waits() -> Sequence[Column[OverviewRow]]:
    return [
        Column(
            "lag",
            _("Lag"),
            itemgetter("lag"),
            _lag,
            css="num strong",
            falls=True,
            narrow=True,
            unknown=_why_no_lag,
            partial=lambda row: row["lag_partial"],
            reads=("lag",),
        ),
        Column(
            "oldest",
            _("Oldest"),
            itemgetter("oldest_ms"),
            lambda row: tags.duration(row["oldest_ms"]),
            css="num",
            falls=True,
            narrow=True,
            partial=lambda row: row.get("oldest_partial", False),
            reads=("oldest_ms",),
        ),
        Column(
            "trend",
            _("1 h"),
            lambda row: None,
            lambda row: trend(row["lag_trend"], row["status"]["level"]),
            sorts=False,
        ),
        Column(
            "in",
            _("In/s"),
            itemgetter("rate_in"),
            lambda row: tags.rate(row["rate_in"]),
            css="num",
            falls=True,
            partial=_in_part,
            reads=("rate_in",),
        ),
        Column(
            "out",
            _("Out/s"),
            itemgetter("rate_out"),
            lambda row: tags.rate(row["rate_out"]),
            css="num",
            falls=True,
            partial=_in_part,
            reads=("rate_out",),
        ),
    ]


def _how_it_is_divided() -> Sequence[Column[OverviewRow]]:
    return [
        Column(
            "members",
            _("Members"),
            itemgetter("members"),
            lambda row: tags.count(row["members"]),
            css="num",
            falls=True,
            narrow=True,
            flash=True,
            reads=("members",),
        ),
        Column(
            "queues",
            _("Queues"),
            itemgetter("queues"),
            lambda row: tags.count(row["queues"]),
            css="num",
            falls=True,
            reads=("queues",),
        ),
        Column(
            "skew",
            _("Skew"),
            itemgetter("skew"),
            _skew,
            css="num",
            falls=True,
            unknown=lambda row: word("unknown", _why_no_skew(row)),
            term="skew",
            reads=("skew",),
        ),
        Column(
            "strategy",
            _("Strategy"),
            lambda row: row["strategy"]["name"],
            _strategy,
            css="cut",
            reads=("strategy",),
        ),
    ]


def _state(level: str, name: str) -> SafeString:
    icon = tags.icon(tags.state_icon(level, name))
    return fill('<span class="state {}">{}{}</span>', level, icon, word("status", name))


def _with_age(drawn: SafeString, row: OverviewRow) -> SafeString:
    held = row.get("as_of")
    return drawn if held is None else drawn + tags.as_of(held)


def _topics(row: OverviewRow) -> SafeString:
    topics = row["topics"]
    text = ", ".join(topics)
    if len(topics) > _TOPICS_NAMED:
        return fill(
            '<span title="{}">{}</span>', text, _("%(n)s topics") % {"n": len(topics)}
        )
    return fill('<span title="{}">{}</span>', text, text)


def what(cluster: str, row: OverviewRow) -> str:
    """Say the most important thing about a group: a finding, or what it is."""
    findings = row["findings"]
    if findings and findings[0]["level"] != "info":
        worst = findings[0]
        return fill(
            '<a href="{}#findings"><span class="badge{}">{}</span> {}</a>',
            reverse("group", args=[cluster, row["group"]]),
            " badge-crit" if worst["level"] == "crit" else "",
            len(findings),
            finding_title(worst["key"]),
        )
    return _kind_said(row) or _extra_said(row)


def _kind_said(row: OverviewRow) -> str:
    kind = row["kind"]
    if kind == "broadcasting":
        return "BROADCASTING"
    if kind in {"shared_pop", "assigned_by_hand", "mixed"}:
        return word("kind", kind)
    if kind == "offline":
        return _("nobody online")
    if row["unowned"] and kind == "owned":
        found = {"n": row["unowned"], "all": row["queues"]}
        return _("%(n)s of %(all)s queues without owner") % found
    return ""


def _extra_said(row: OverviewRow) -> str:
    if row["idle"]:
        return ngettext("%(n)s idle member", "%(n)s idle members", row["idle"]) % {
            "n": row["idle"]
        }
    if row["managed"]:
        return _("hosted here")
    return _("orderly") if row["orderly"] else ""


def _lag(row: OverviewRow) -> str:
    if row["lag"] is None and row["kind"] == "broadcasting":
        return tags.unknown("broadcasting")
    return tags.count(row["lag"])


def _why_no_lag(row: OverviewRow) -> str:
    if row["kind"] == "broadcasting":
        return word("unknown", "broadcasting")
    return _("Not known")


def _in_part(row: OverviewRow) -> bool:
    return row.get("complete") is False


def _skew(row: OverviewRow) -> str:
    if row["skew"] is None:
        return tags.unknown(_why_no_skew(row))
    return tags.ratio(row["skew"])


def _why_no_skew(row: OverviewRow) -> str:
    if row["kind"] == "offline":
        return "offline"
    if row["kind"] != "owned":
        return "shared"
    nothing = row["lag"] == 0 and not row["lag_partial"]
    return "no_lag" if nothing else "not_every_queue"


def _strategy(row: OverviewRow) -> str:
    if row["kind"] == "broadcasting":
        return fill('<span class="dim">{}</span>', _("all queues to all"))
    name, source = row["strategy"]["name"], row["strategy"]["source"]
    if not name:
        return tags.unknown("not_asked")
    if source == "assumed":
        return fill('{} <span class="dim">{}</span>', name, _("assumed"))
    return name
