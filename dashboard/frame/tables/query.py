"""The part of a table that a reader asks for, as the address has it.

| parameter | meaning |
| --- | --- |
| `q` | text to search for |
| `show` | the segment; some tables call it otherwise |
| `with` | hidden chips that are shown, separated by commas |
| `only` | chips whose rows alone are shown, separated by commas |
| `sort` | a column's key, with a minus in front for the largest first |
| `page` | from 1 |
| `columns` | the columns' keys, separated by commas |
| `f.KEY` | a value of a facet |
| `KEY` | the value of a setting, where the table has some |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from .table import Table

LONGEST_FILTER: Final = 255
_FACET: Final = "f."


@dataclass(frozen=True, slots=True)
class TableQuery:
    """What is asked for; an empty value stands for the table's own choice.

    `kept` are parameters of the page that are none of the table's: its links and forms
    carry them on.
    """

    text: str = ""
    segment: str = ""
    unhidden: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    sort: str = ""
    page: int = 1
    columns: tuple[str, ...] = ()
    facets: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    segment_name: str = "show"
    kept: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_params(
        cls,
        params: Mapping[str, str],
        table: Table[Any],
        kept: Iterable[tuple[str, str]] = (),
    ) -> TableQuery:
        """Read an address's parameters; one that cannot be read gets its default."""
        segment, sort = params.get(table.segment_name, ""), params.get("sort", "")
        page = params.get("page", "")
        column = table.column(sort.removeprefix("-"))
        return cls(
            text=params.get("q", "").strip()[:LONGEST_FILTER],
            segment=segment if _known(segment, table.segments) else "",
            unhidden=_listed(params.get("with", ""), table.hidden),
            only=_listed(params.get("only", ""), table.only),
            sort=sort if column is not None and column.sorts else "",
            page=int(page)
            if page.isascii() and page.isdigit() and len(page) < 9 and int(page)
            else 1,
            columns=_listed(params.get("columns", ""), table.columns),
            facets={
                each.key: params[_FACET + each.key][:LONGEST_FILTER]
                for each in table.facets
                if params.get(_FACET + each.key)
            },
            settings={
                each.key: value
                for each in table.settings
                if each.accepts(value := params.get(each.key, "")[:LONGEST_FILTER])
            },
            segment_name=table.segment_name,
            kept=tuple(kept),
        )

    def pairs(self, **changes: Any) -> list[tuple[str, str]]:
        """Return the parameters with some parts changed; defaults are left out."""
        changed = replace(self, **{"page": 1, **changes})
        pairs = [
            *changed.kept,
            *changed.settings.items(),
            ("q", changed.text),
            (changed.segment_name, changed.segment),
            ("with", ",".join(changed.unhidden)),
            ("only", ",".join(changed.only)),
            ("sort", changed.sort),
            ("page", str(changed.page) if changed.page != 1 else ""),
            ("columns", ",".join(changed.columns)),
            *((_FACET + key, value) for key, value in changed.facets.items()),
        ]
        return [(name, value) for name, value in pairs if value]

    @property
    def unfiltered(self) -> str:
        """The query of the address without anything of the table's."""
        return "?" + urlencode(self.kept)

    def url(self, **changes: Any) -> str:
        """Return the query of the address with some parts changed."""
        return "?" + urlencode(self.pairs(**changes))


def _known(key: str, named: Sequence[Any]) -> bool:
    return any(each.key == key for each in named)


def _listed(text: str, named: Sequence[Any]) -> tuple[str, ...]:
    """Return the known keys of a list with commas, in the order of the table."""
    wanted = set(text[:2000].split(","))
    return tuple(each.key for each in named if each.key in wanted)
