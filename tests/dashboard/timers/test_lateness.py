from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.timers.lateness import (
    Run,
    Strip,
    height_of,
    strip,
)

NOW = 1_000_000.0
SINCE = NOW - 600


def run(due: float, *, late: float = 0.02, **values: object) -> Run:
    found = Run(round(due / 20), due, due + late, 3.0, "done", False)
    return replace(found, **values)  # type: ignore[arg-type]


def drawn(runs: list[Run], **values: float | None) -> Strip:
    given: dict[str, float | None] = {
        "alive_from": None,
        "alive_until": NOW + 6,
        **values,
    }
    return strip(runs, period=20.0, since=SINCE, now=NOW, **given)  # type: ignore[arg-type]


def test_a_run_stands_where_it_was_due() -> None:
    found = drawn([run(NOW - 300)])
    (slot,) = found.slots
    assert (slot.x, slot.mark) == (50.0, "on_time")
    assert slot.late_ms == pytest.approx(20, abs=0.1)
    assert found.worst_ms == slot.late_ms


def test_what_lies_before_the_span_is_not_drawn_but_may_be_the_last() -> None:
    found = drawn([run(SINCE - 20)])
    assert found.slots == ()
    assert found.last is not None
    assert found.worst_ms is None


@pytest.mark.parametrize(
    ("values", "mark"),
    [
        ({"late": 4.9}, "on_time"),
        ({"late": 5.0}, "late"),
        ({"outcome": "failed"}, "failed"),
        ({"outcome": "partly"}, "partly"),
        ({"outcome": "skipped"}, "skipped"),
    ],
)
def test_marks(values: dict[str, object], mark: str) -> None:
    assert drawn([run(NOW - 300, **values)]).slots[0].mark == mark  # type: ignore[arg-type]


def test_made_up_and_failed_runs_are_counted() -> None:
    runs = [run(NOW - 300, made_up=True), run(NOW - 280, outcome="failed")]
    found = drawn(runs)
    assert (found.made_up, found.failed) == (1, 1)


def test_a_slot_without_a_run_is_missing_once_it_should_be_written() -> None:
    runs = [run(due) for due in (NOW - 80, NOW - 40)]
    found = drawn(runs, alive_from=NOW - 95)
    # Slots begin at NOW - 80, - 60, - 40, - 20 and NOW; the last may be on its way.
    assert [slot.due - NOW for slot in found.slots if slot.mark == "missing"] == [
        -60,
        -20,
    ]
    assert found.missing == 2


def test_nothing_is_owed_from_before_a_start_and_after_an_end() -> None:
    found = drawn([], alive_from=NOW - 100, alive_until=NOW - 50)
    assert [slot.due - NOW for slot in found.slots] == [-80, -60]
    assert drawn([], alive_from=None).missing == 0


def test_lateness_is_never_negative_and_the_scale_ends_at_ten_seconds() -> None:
    assert drawn([run(NOW - 300, late=-0.5)]).worst_ms == 0
    assert height_of(0) == 12
    assert height_of(10_000) == height_of(60_000) == 100
    assert 12 < height_of(20) < height_of(1000) < 100
