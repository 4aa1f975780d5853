from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.collector.overview_document import overview_document
from dashboard.collector.presence import (
    HELD_MS,
    TOLERATED_MS,
    Presence,
    condition_of,
)
from dashboard.live.numbering import Stamp
from rmqcore.model.snapshot import BrokerSnapshot, ClusterSnapshot, NameServerSnapshot

from .sights import NOW, broker

WHOLE = broker("a")


def at(
    at_ms: int,
    *brokers: BrokerSnapshot,
    nameservers: tuple[NameServerSnapshot, ...] = (),
) -> ClusterSnapshot:
    return ClusterSnapshot(at_ms, brokers, {}, {}, nameservers=nameservers)


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
    presence.take(at(NOW - 1000, WHOLE))
    (silent,) = presence.take(at(NOW, SILENT)).brokers
    assert (silent.since_ms, silent.away_since_ms) == (NOW, NOW)
    assert silent.answered_at_ms == WHOLE.answered_at_ms
    (still,) = presence.take(at(NOW + 5000, SILENT)).brokers
    assert (still.since_ms, still.away_since_ms) == (NOW, NOW)
    gone_at = NOW + 9000
    (missing,) = presence.take(
        at(gone_at, replace(SILENT, missing_since_ms=gone_at))
    ).brokers
    assert (missing.since_ms, missing.away_since_ms) == (gone_at, NOW)
    (back,) = presence.take(at(NOW + 20_000, WHOLE)).brokers
    assert back.whole
    assert (back.since_ms, back.away_since_ms) == (None, None)


def test_a_short_silence_is_no_news() -> None:
    presence = Presence()
    presence.take(at(NOW - 1000, WHOLE))
    (first,) = presence.take(at(NOW, SILENT)).brokers
    assert first.tolerated(NOW)
    (later,) = presence.take(at(NOW + TOLERATED_MS, SILENT)).brokers
    assert not later.tolerated(NOW + TOLERATED_MS)


def test_that_a_broker_is_not_named_is_told_at_once() -> None:
    (missing,) = Presence().take(at(NOW, MISSING)).brokers
    assert not missing.tolerated(NOW)
    assert not missing.snapshot.withdrawn(NOW)
    assert missing.snapshot.withdrawn(NOW + HELD_MS)


def test_a_look_that_comes_late_does_not_turn_time_back() -> None:
    presence = Presence()
    presence.take(at(NOW, SILENT))
    (late,) = presence.take(at(NOW - 5000, WHOLE)).brokers
    assert late.whole
    (known,) = presence.now.brokers
    assert (known.condition, known.since_ms) == ("silent", NOW)


def test_a_new_leader_goes_on_from_what_was_published() -> None:
    presence = Presence()
    presence.take(
        at(NOW - 60_000, SILENT, nameservers=(NameServerSnapshot("n", False),))
    )
    snapshot = at(NOW - 60_000, SILENT)
    stamp = Stamp("r", 1)
    published = overview_document(
        "east", snapshot, (), stamp, NOW, standing=presence.now
    )
    successor = Presence()
    successor.restore(published)
    now = successor.take(at(NOW, SILENT, nameservers=(NameServerSnapshot("n", False),)))
    (silent,) = now.brokers
    assert (silent.since_ms, silent.away_since_ms) == (NOW - 60_000, NOW - 60_000)
    assert [each.get("since") for each in now.nameservers] == [NOW - 60_000]


def test_a_broker_that_never_answered_may_have_queues_of_any_group() -> None:
    presence = Presence()
    (never,) = presence.take(at(NOW, SILENT)).brokers
    assert never.unheard(NOW)
    (gone,) = presence.take(at(NOW, MISSING)).brokers
    assert not gone.unheard(NOW + HELD_MS)
    presence.take(at(NOW, WHOLE))
    (heard,) = presence.take(at(NOW, SILENT)).brokers
    assert not heard.unheard(NOW)


def test_a_new_leader_knows_who_ever_answered() -> None:
    presence = Presence()
    snapshot = at(NOW, WHOLE)
    presence.take(snapshot)
    stamp = Stamp("r", 1)
    published = overview_document(
        "east", snapshot, (), stamp, NOW, standing=presence.now
    )
    successor = Presence()
    successor.restore(published)
    (silent,) = successor.take(at(NOW + 1000, SILENT)).brokers
    assert silent.answered_at_ms == WHOLE.answered_at_ms


def test_name_servers_tell_which_brokers_they_do_not_list() -> None:
    other = broker("b")
    nameservers = (
        NameServerSnapshot("n1", True, ("a", "b")),
        NameServerSnapshot("n2", True, ("b",)),
        NameServerSnapshot("n3", False, error="timed out"),
    )
    presence = Presence()
    presence.take(at(NOW - 1000, WHOLE, other, nameservers=nameservers))
    now = presence.take(at(NOW, WHOLE, other, nameservers=nameservers))
    assert [each["unlisted"] for each in now.nameservers] == [[], ["a"], []]
    assert [each.get("since") for each in now.nameservers] == [None, None, NOW - 1000]
    assert not now.agreed()
    assert presence.take(at(NOW + 1, WHOLE, nameservers=nameservers[:1])).agreed()
