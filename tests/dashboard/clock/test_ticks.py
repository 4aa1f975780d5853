from __future__ import annotations

from dashboard.clock.ticks import Tick, tick_at


def test_a_tick_names_its_slot_and_when_it_was_due() -> None:
    assert tick_at("locks", 20.0, 1025.5, "beat") == Tick("locks", 51, 1020.0, "beat")
