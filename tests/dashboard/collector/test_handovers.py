from __future__ import annotations

import pytest

from dashboard.collector.handovers import Handover, Handovers
from dashboard.collector.ownership import Ownership, RowOwners

from .sights import keys

KEYS = keys(1)


def owned(
    *owners: str,
    source: str | None = "reported",
    wrong: str | None = None,
    since_ms: int | None = None,
    divided: bool = True,
) -> Ownership:
    row = RowOwners(owners, source, None, wrong, since_ms)  # type: ignore[arg-type]
    return Ownership((row,), True, 1, divided=divided)


def test_the_first_report_is_no_event() -> None:
    assert Handovers().observe(KEYS, owned("c1"), 1000) == []


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (("c1",), ("c2",), "moved"),
        (("c1",), (), "lost"),
        ((), ("c1",), "taken"),
        (("c1",), ("c1", "c2"), "double"),
        (("c1", "c2"), ("c2",), "settled"),
        (("c1",), ("c1", "c1"), "double"),
        (("c1", "c1"), ("c1",), "settled"),
    ],
)
def test_a_change_is_an_interval_with_its_kind(
    before: tuple[str, ...], after: tuple[str, ...], kind: str
) -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned(*before), 1000)
    handovers.observe(KEYS, owned(*before), 2000)
    assert handovers.observe(KEYS, owned(*after), 3000) == [
        Handover(KEYS[0], kind, before, after, 2000, 3000)
    ]
    assert handovers.moved_at_ms == {KEYS[0]: 3000}


def test_guesses_are_no_events_and_widen_the_interval() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1"), 1000)
    assert handovers.observe(KEYS, owned("c2", source="inferred"), 2000) == []
    (event,) = handovers.observe(KEYS, owned("c2"), 3000)
    assert (event.after_ms, event.by_ms) == (1000, 3000)


def test_the_order_of_two_owners_does_not_matter() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1", "c2"), 1000)
    assert handovers.observe(KEYS, owned("c2", "c1"), 2000) == []


def test_what_is_confirmed_late_was_so_since_it_was_first_seen() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1"), 1000)
    handovers.observe(KEYS, owned("c1", since_ms=2000), 2000)
    handovers.observe(KEYS, owned("c1", since_ms=2000), 3000)
    twice = owned("c1", "c2", wrong="double", since_ms=2000)
    (event,) = handovers.observe(KEYS, twice, 4000)
    assert (event.after_ms, event.by_ms) == (1000, 2000)
    assert handovers.moved_at_ms == {KEYS[0]: 4000}
    lost = owned(wrong="unowned", since_ms=5000)
    (event,) = handovers.observe(KEYS, lost, 7000)
    assert (event.kind, event.after_ms, event.by_ms) == ("lost", 4000, 5000)


def test_nothing_changes_hands_where_nothing_is_divided() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1"), 1000)
    both = owned("c1", "c2", divided=False)
    assert handovers.observe(KEYS, both, 2000) == []
    assert (handovers.owners, handovers.moved_at_ms) == ({}, {})
    assert handovers.observe(KEYS, owned("c2"), 3000) == []


def test_queues_that_are_gone_are_forgotten() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1"), 1000)
    handovers.observe(KEYS, owned("c2"), 2000)
    handovers.observe((), Ownership((), True, 1), 3000)
    assert handovers.moved_at_ms == {}
    assert handovers.observe(KEYS, owned("c1"), 4000) == []


def test_events_newer_than_the_state_are_caught_up_with() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c1"), 1000)
    handovers.catch_up({KEYS[0]: (("c2",), 2000)})
    (event,) = handovers.observe(KEYS, owned("c3"), 3000)
    assert (event.before, event.after_ms) == (("c2",), 2000)


def test_events_older_than_the_state_change_nothing() -> None:
    handovers = Handovers()
    handovers.observe(KEYS, owned("c2"), 3000)
    handovers.catch_up({KEYS[0]: (("c1",), 2000), ("T", "other", 9): (("x",), 9000)})
    assert handovers.owners == {KEYS[0]: ("c2",)}
