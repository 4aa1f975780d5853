"""The list of groups of a cluster: filtered, sorted and paginated on the server.

The document lists the worst groups first, and that order is kept where the sort column
does not decide. Unknown values come last in either direction. A group that looks
healthy but is known only in part stands among the unknown, above the healthy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from dashboard.brokers.reach import is_partial
from dashboard.live.documents import (
    Overview,
    OverviewRow,
)

PAGE_ROWS: Final = 50
LEVELS: Final = ("crit", "warn", "unk", "ok")
DEFAULT_SORT: Final = "state"
_LONGEST_FILTER: Final = 255

SortKey = Callable[[OverviewRow], Any]
SORTS: Final[Mapping[str, SortKey]] = {
    "group": lambda row: row["group"],
    "lag": lambda row: row["lag"],
    "oldest": lambda row: row["oldest_ms"],
    "in": lambda row: row["rate_in"],
    "out": lambda row: row["rate_out"],
    "members": lambda row: row["members"],
    "queues": lambda row: row["queues"],
    "skew": lambda row: row["skew"],
}


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The requested part of the list; `sort` may begin with a minus."""

    text: str = ""
    level: str = ""
    sort: str = DEFAULT_SORT
    page: int = 1

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> ListQuery:
        """Read a URL's parameters; one that cannot be read gets its default."""
        level, sort = params.get("level", ""), params.get("sort", "")
        page = params.get("page", "")
        return cls(
            text=params.get("q", "").strip()[:_LONGEST_FILTER],
            level=level if level in LEVELS else "",
            sort=sort if sort.removeprefix("-") in SORTS else DEFAULT_SORT,
            page=int(page)
            if page.isascii() and page.isdigit() and len(page) < 9
            else 1,
        )

    def url(self, **changes: Any) -> str:
        """Return the URL query for this list with some parts changed."""
        changed = replace(self, page=1) if "page" not in changes else self
        changed = replace(changed, **changes)
        default = ListQuery()
        pairs = {
            "q": changed.text,
            "level": changed.level,
            "sort": changed.sort if changed.sort != default.sort else "",
            "page": changed.page if changed.page != default.page else "",
        }
        return "?" + urlencode({key: value for key, value in pairs.items() if value})


@dataclass(frozen=True, slots=True)
class GroupList:
    """One page of the list; `counts` are by level, before the level filter."""

    rows: Sequence[OverviewRow]
    found: int
    first: int
    last: int
    pages: int
    query: ListQuery
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        return sum(self.counts.values())


def list_groups(
    overview: Overview, query: ListQuery, *, page_rows: int = PAGE_ROWS
) -> GroupList:
    """Return the rows that `query` asks for; a page beyond the last gives the last."""
    listed = sorted(overview["groups"], key=_doubt)
    matching = [row for row in listed if _matches(row, query.text)]
    counts: Counter[str] = Counter(row["status"]["level"] for row in matching)
    wanted = [
        row
        for row in matching
        if not query.level or row["status"]["level"] == query.level
    ]
    wanted = _sorted(wanted, query.sort)
    pages = max(1, -(-len(wanted) // page_rows))
    page = min(max(query.page, 1), pages)
    start = (page - 1) * page_rows
    rows = wanted[start : start + page_rows]
    return GroupList(
        rows=rows,
        found=len(wanted),
        first=start + 1 if rows else 0,
        last=start + len(rows),
        pages=pages,
        query=replace(query, page=page),
        counts={level: counts[level] for level in LEVELS},
    )


def _doubt(row: OverviewRow) -> int:
    """Rank by level; a healthy group that is known only in part ranks as unknown."""
    level = row["status"]["level"]
    return LEVELS.index("unk" if level == "ok" and is_partial(row) else level)


def _matches(row: OverviewRow, text: str) -> bool:
    wanted = text.casefold()
    return wanted in row["group"].casefold() or any(
        wanted in topic.casefold() for topic in row["topics"]
    )


def _sorted(rows: list[OverviewRow], sort: str) -> list[OverviewRow]:
    key = SORTS.get(sort.removeprefix("-"))
    if key is None:
        return rows
    known = [row for row in rows if key(row) is not None]
    known.sort(key=key, reverse=sort.startswith("-"))
    return known + [row for row in rows if key(row) is None]
