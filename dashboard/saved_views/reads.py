"""Which saved views a reader has of a list, and which of them the address shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlencode

from django.urls import Resolver404, resolve

from dashboard.models import SavedView, User
from dashboard.models.compiled import Compiled

SAME_TABLE: Final[Mapping[str, str]] = {"cluster": "groups"}
"""Pages that show the table of another page."""
NOT_KEPT: Final = frozenset({"page", "format"})
MOST_PARAMETERS: Final = 100
# Every list asks for them, so only for what the menu shows.
_SEEN: Final = Compiled(
    lambda: (
        SavedView.objects.seen_by(User(pk=0))
        .filter(table="")
        .values_list("name", "query", "shared", "owner__username", "owner_id")
    )
)


@dataclass(frozen=True, slots=True)
class Offered:
    """A view in the menu of a table; `here` says that the page shows it now."""

    name: str
    query: str
    shared: bool
    owner: str
    mine: bool
    here: bool


def table_at(path: str) -> str:
    """Return the name of the table that a page of ours shows; "" for no such page."""
    try:
        name = resolve(path).url_name or ""
    except Resolver404:
        return ""
    return SAME_TABLE.get(name, name)


def canonical(query: str) -> str:
    """Return the parameters that a view keeps, in the order of their names.

    Raise ValueError where there are more than 100.
    """
    pairs = parse_qsl(query.removeprefix("?"), max_num_fields=MOST_PARAMETERS)
    return urlencode(sorted(pair for pair in pairs if pair[0] not in NOT_KEPT))


def offered(user: User, path: str, query: str) -> Sequence[Offered]:
    """Return the views of the table at `path`, one's own first."""
    try:
        now = canonical(query)
    except ValueError:
        now = "?"
    found = [
        Offered(name, f"?{kept}", bool(shared), owner, key == user.pk, kept == now)
        for name, kept, shared, owner, key in _SEEN.rows(user.pk, table_at(path))
    ]
    return sorted(found, key=lambda each: not each.mine)
