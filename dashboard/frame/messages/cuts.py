"""Says where a search for messages was cut short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.gateway.queue_search import Cut
from dashboard.wording.words import Word, word

PLACES_NAMED: Final = 4

CUTS: Final[dict[str, Word]] = {
    "key": _(
        "{where} returned as many as it gives for one key: there may be older ones."
    ),
    "limit": _("There are more than are shown here in {where}."),
    "time": _("Not read to the end, as it took too long: {where}."),
    "bytes": _("Not read to the end, as the messages are large: {where}."),
}


def cuts_said(cuts: Sequence[Cut]) -> list[tuple[str, str]]:
    """Return a kind and a sentence for each way in which a search was cut short."""
    places: dict[str, list[str]] = {}
    for cut in cuts:
        places.setdefault(cut.kind, []).append(cut.where)
    return [
        (kind, word("search_cut", kind, where=_first(where)))
        for kind, where in places.items()
    ]


def cut_said(cut: Cut) -> str:
    """Say where a search may have left something out."""
    return word("search_cut", cut.kind, where=cut.where)


def _first(names: Sequence[str]) -> str:
    more = ", …" if len(names) > PLACES_NAMED else ""
    return ", ".join(names[:PLACES_NAMED]) + more
