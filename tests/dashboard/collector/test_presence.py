from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.collector.presence import (
    HELD_MS,
    TOLERATED_MS,
    Presence,
    condition_of,
)
from rmqcore.model.snapshot import BrokerSnapshot

from .sights import NOW, broker

WHOLE = broker("a")
SILENT = broker("a", answered=False)
MISSING = replace(SILENT, missing_since_ms=NOW)


@pytest.mark.parametrize(
    ("seen", "condition"),
    [
        (WHOLE, "answered"),
        (replace(WHOLE, stale=True), "slave"),
        (replace(SILENT, faults={"offsets": "denied"}), "partial"),
        (SILENT, "silent"),
        (MISSING, "missing"),
        # Not named any more, even though it answers where it was.
        (replace(WHOLE, missing_since_ms=NOW), "missing"),
    ],
)
def test_how_a_broker_stands(seen: BrokerSnapshot, condition: str) -> None:
    assert condition_of(seen) == condition


def test_a_condition_has_the_time_of_its_first_look() -> None:
    presence = Presence()
    presence.take([WHOLE], NOW - 1000)
    (silent,) = presence.take([SILENT], NOW)
    assert (silent.since_ms, silent.away_since_ms) == (NOW, NOW)
    assert silent.answered_at_ms == WHOLE.answered_at_ms
    (still,) = presence.take([SILENT], NOW + 5000)
    assert (still.since_ms, still.away_since_ms) == (NOW, NOW)
    gone_at = NOW + 9000
    (missing,) = presence.take([replace(SILENT, missing_since_ms=gone_at)], gone_at)
    assert (missing.since_ms, missing.away_since_ms) == (gone_at, NOW)
    (back,) = presence.take([WHOLE], NOW + 20_000)
    assert back.whole
    assert (back.since_ms, back.away_since_ms) == (None, None)


def test_a_short_silence_is_no_news() -> None:
    presence = Presence()
    presence.take([WHOLE], NOW - 1000)
    (first,) = presence.take([SILENT], NOW)
    assert first.tolerated(NOW)
    (later,) = presence.take([SILENT], NOW + TOLERATED_MS)
    assert not later.tolerated(NOW + TOLERATED_MS)


def test_that_a_broker_is_not_named_is_told_at_once() -> None:
    (missing,) = Presence().take([MISSING], NOW)
    assert not missing.tolerated(NOW)
    assert not missing.snapshot.withdrawn(NOW)
    assert missing.snapshot.withdrawn(NOW + HELD_MS)


def test_a_look_that_comes_late_does_not_turn_time_back() -> None:
    presence = Presence()
    presence.take([SILENT], NOW)
    (late,) = presence.take([WHOLE], NOW - 5000)
    assert late.whole
    (known,) = presence.states
    assert (known.condition, known.since_ms) == ("silent", NOW)


def test_a_new_leader_goes_on_from_what_was_published() -> None:
    presence = Presence()
    presence.restore(
        [
            {
                "name": "a",
                "cluster": None,
                "address": None,
                "version": None,
                "answered": False,
                "took_ms": None,
                "age_ms": None,
                "error": None,
                "state": "silent",
                "since": NOW - 60_000,
            }
        ]
    )
    (silent,) = presence.take([SILENT], NOW)
    assert (silent.since_ms, silent.away_since_ms) == (NOW - 60_000, NOW - 60_000)
