"""One group's strangeness never changes what is shown of another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.strange.histories import History, groups, histories
from tests.support.strange.story import Seen
from tests.support.strange.truth import Group

from .conftest import Tell, strange

BESIDE = "zz-beside"


@st.composite
def with_another(draw: st.DrawFn) -> tuple[History, Group]:
    """Draw a history, and a group that may stand beside those it has."""
    history = draw(histories(ill=False))
    return history, draw(groups(history.truth, BESIDE))


@strange(12)
@given(drawn=with_another())
def test_a_group_more_changes_no_other(
    tell: Tell, drawn: tuple[History, Group]
) -> None:
    history, other = drawn
    alone = tell(history)
    beside = tell(replace(history, truth=history.truth.with_group(other)))
    for one, both in zip(alone.seen, beside.seen, strict=True):
        # What is logged as wrong has an invariant of its own.
        if not one.faults and not both.faults:
            assert _shown(one) == _shown(both)


def _shown(seen: Seen) -> dict[str, Any]:
    return {
        group: {name: value for name, value in state.items() if name != "cluster"}
        for group, state in seen.documents.items()
        if group != BESIDE
    }
