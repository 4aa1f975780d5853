"""Whatever a cluster does, what the collector shows and stores stays true.

Hypothesis prints the smallest history that fails as the expression that makes it; once
mended, it belongs into `smallest.py`. `tests/README.md` tells more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given

from tests.support.strange.histories import History, histories
from tests.support.strange.story import Story

from . import claims, facts, readers
from .conftest import Tell, strange
from .smallest import SMALLEST

Invariant = Callable[[Story], Iterator[str]]

INVARIANTS: tuple[Invariant, ...] = (
    facts.numbers_are_true,
    facts.unknown_is_never_a_number,
    facts.rows_are_all_there,
    facts.what_was_there_is_not_gone,
    facts.what_is_not_all_says_so,
    facts.sums_are_true,
    facts.sums_of_members_are_true,
    claims.wrong_only_after_two_rounds,
    claims.broadcasting_is_never_wrong,
    claims.modes_are_not_mixed_up,
    claims.owners_come_from_the_same_look,
    claims.epochs_turn_only_when_all_is_seen,
    claims.samples_are_true,
    readers.nothing_is_raised,
    readers.updates_lead_to_the_document,
    readers.the_list_says_what_the_pages_say,
)


def complaints(story: Story) -> list[str]:
    """Return what is not as it must be, each with the invariant that says so."""
    return [f"{each.__name__}: {text}" for each in INVARIANTS for text in each(story)]


@strange(50)
@given(history=histories())
def test_what_is_shown_is_true_whatever_happens(tell: Tell, history: History) -> None:
    assert complaints(tell(history)) == []


@pytest.mark.parametrize("history", SMALLEST.values(), ids=SMALLEST)
def test_what_once_was_wrong_is_right(tell: Tell, history: History) -> None:
    assert complaints(tell(history)) == []
