"""Which of many names somebody means: by a part that was typed, or by a near miss.

Both go through all names once; 10,000 names take about a millisecond for a part and
some ten for a near miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from heapq import nlargest, nsmallest
from typing import Final

NEAR: Final = 0.6
"""How alike two names are at least, from 0 to 1, for one to be meant by the other."""
_PAIRS: Final = 10
_LOOKED_AT: Final = 24
"""Names that are compared letter by letter: those that share most pairs of letters."""


def matching(
    folded: Sequence[str], typed: str, most: int
) -> tuple[list[tuple[int, int]], int]:
    """Return rank and place of names that have every word of `typed`, best first.

    At most so many are returned, with the number of all that match. Ranks: 0 the name
    itself, 1 its beginning, 2 the beginning of a part of it, 3 any other place. Shorter
    names come first within a rank.
    """
    words = typed.casefold().split()
    if not words:
        return [], 0
    whole, first = " ".join(words), words[0]
    places = [at for at, name in enumerate(folded) if first in name]
    for word in words[1:]:
        places = [at for at in places if word in folded[at]]
    ranked = ((_rank(folded[at], whole, first), len(folded[at]), at) for at in places)
    return [(rank, at) for rank, _, at in nsmallest(most, ranked)], len(places)


def _rank(name: str, whole: str, first: str) -> int:
    if name == whole:
        return 0
    at = name.find(first)
    if at <= 0:
        return 1
    return 3 if name[at - 1].isalnum() else 2


def nearest(
    names: Sequence[str], folded: Sequence[str], wanted: str, most: int
) -> list[str]:
    """Return at most so many names that `wanted` may be a slip for, the nearest first.

    The name itself is none of them; one that differs only in case comes first.
    """
    meant = wanted.casefold()
    pairs = _pairs(meant)
    alike = nlargest(
        _LOOKED_AT,
        (
            (_shared(pairs, name), at)
            for at, name in enumerate(folded)
            if 2 * abs(len(name) - len(meant)) <= max(len(meant), 4)
        ),
    )
    scored = [
        (_likeness(meant, folded[at]), names[at])
        for shared, at in alike
        if shared and names[at] != wanted
    ]
    scored = [each for each in scored if each[0] >= NEAR]
    return [name for _score, name in nlargest(most, scored)]


def _pairs(text: str) -> list[str]:
    """Return some pairs of neighbouring letters, from all over the text."""
    last = max(0, len(text) - 2)
    count = min(_PAIRS, last + 1)
    places = {last * at // max(1, count - 1) for at in range(count)}
    return [text[at : at + 2] for at in sorted(places)]


def _shared(pairs: Sequence[str], name: str) -> int:
    """Return how many of the pairs of letters a name has."""
    return [pair in name for pair in pairs].count(True)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()
