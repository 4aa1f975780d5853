"""What a move of offsets does, in words: figures that must not promise too much."""

from __future__ import annotations

import pytest
from django.utils import timezone

from dashboard.gateway.offsets import BrokerSide, Place, Standing
from dashboard.offsets.plan import plan_of
from dashboard.offsets.reads import Preview
from dashboard.offsets.said import catching_up, headline, sums
from dashboard.offsets.wanted import MOST_MS, Wanted


@pytest.mark.parametrize("rates", [(0.0, 0.0), (100.0, 90.0), (100.0, 104.9)])
def test_a_group_that_is_hardly_faster_is_not_said_to_catch_up(
    rates: tuple[float, float],
) -> None:
    assert catching_up(10_000, *rates).value == "—"


def test_a_faster_group_catches_up_in_lag_by_the_difference() -> None:
    assert catching_up(6_000, 100.0, 200.0).value == "1 m 00 s"


@pytest.mark.parametrize(
    "known",
    [(None, 1.0, 2.0), (5, None, 2.0), (5, 1.0, None)],
    ids=["lag", "in", "out"],
)
def test_what_is_not_known_is_said(
    known: tuple[int | None, float | None, float | None],
) -> None:
    said = catching_up(*known)
    assert (said.value, said.below) == ("—", "rates are not known")


def test_sums_over_a_part_of_the_queues_are_marked() -> None:
    known, silent = Place("a", 0, 0, 9, 5), Place("b", 0, error="no answer")
    sides = {
        "a": BrokerSide("a", "a:10911", frozenset(), keeps_resets=True),
        "b": BrokerSide("b", None, error="no answer"),
    }
    standing = Standing([known, silent], sides)
    plan = plan_of(Wanted.from_query("to=earliest&topic=t"), standing, {"a/0": 0})
    said = {each.name: each for each in sums(Preview(plan, standing), None)}
    assert (said["Lag after"].value, said["Lag after"].below) == ("≥ 9", "now ≥ 4")
    assert catching_up(6_000, 100.0, 200.0, partial=True).value == "≥ 1 m 00 s"


def test_the_last_time_of_all_is_said_in_every_zone() -> None:
    wanted = Wanted.from_query(f"to=time&topic=t&at={MOST_MS}")
    with timezone.override("Pacific/Kiritimati"):
        assert headline(wanted) == "to 9999-12-31 13:59:59"
