"""The sentence on top: what would have been best, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from dashboard.reports.data.strategies import Evenness, StrategyRow
from dashboard.reports.data.verdict import Answer, Verdict, judge

DAY = timedelta(days=1)


def row(
    name: str, load: float | None, rank: int | None = 1, **more: Any
) -> StrategyRow:
    values: dict[str, Any] = {
        "in_use": False,
        "is_assumed": False,
        "lag": Evenness(None, None, None),
        "idle_share": 0.0,
        "moves": 4,
        "moves_per_change": 4.0,
        "drain": timedelta(0),
        "never": timedelta(0),
        "overload": timedelta(0),
        "unowned": 0,
        "epochs": 2,
        "known": DAY,
    }
    scores = Evenness(load, None, None)
    rank = None if load is None else rank
    return StrategyRow(name=name, load=scores, rank=rank, **(values | more))


def judged(*rows: StrategyRow) -> Verdict:
    return judge(rows, DAY)


def test_a_better_strategy_is_named_with_what_it_saves() -> None:
    found = judged(row("AVG_BY_CIRCLE", 1.11), row("AVG", 1.48, 2, in_use=True))
    assert found.answer is Answer.CHANGE
    assert found.text == (
        "AVG_BY_CIRCLE would have been best: its busiest member would have had 1.11 "
        "times the mean load, not 1.48 as with AVG. That is 25 % less."
    )


def test_small_differences_are_no_reason_to_change() -> None:
    found = judged(row("AVG_BY_CIRCLE", 1.10), row("AVG", 1.12, 2, in_use=True))
    assert found.answer is Answer.ALIKE
    assert "hardly differ" in found.text
    assert "no reason to change" in found.text


@pytest.mark.parametrize(
    ("others", "part"),
    [
        ([("AVG_BY_CIRCLE", 1.48)], "With AVG_BY_CIRCLE, the next best"),
        ([("AVG_BY_CIRCLE", 1.11)], "as good as any"),
        ([], "No other strategy could be computed"),
        ([("CONSISTENT_HASH", None)], "No other strategy could be computed"),
    ],
)
def test_the_one_in_use_may_be_the_best(
    others: Sequence[tuple[str, float | None]], part: str
) -> None:
    found = judged(
        row("AVG", 1.1, in_use=True), *(row(name, load, 2) for name, load in others)
    )
    assert found.answer is Answer.KEEP
    assert part in found.text


def test_without_rates_nothing_is_claimed() -> None:
    found = judged(row("AVG", None, in_use=True), row("AVG_BY_CIRCLE", None))
    assert found.answer is Answer.UNKNOWN
    assert "not known" in found.text
    assert found.further == ()


@pytest.mark.parametrize(
    ("used", "part"),
    [
        ([], "Which strategy was in use is not known"),
        ([row("CONFIG", None, in_use=True)], "How even CONFIG was"),
        (
            [row("AVG", 1.2, 2, in_use=True), row("CONFIG", 1.3, 3, in_use=True)],
            "changed in the period: AVG, CONFIG",
        ),
    ],
)
def test_without_one_strategy_in_use_there_is_no_by_how_much(
    used: Sequence[StrategyRow], part: str
) -> None:
    found = judged(row("AVG_BY_CIRCLE", 1.1), *used)
    assert found.answer is Answer.UNKNOWN
    assert "AVG_BY_CIRCLE would have been the most even" in found.text
    assert part in found.further[0]
    assert "%" not in found.whole


def test_an_assumed_strategy_is_called_so() -> None:
    used = row("AVG", 1.5, 2, in_use=True, is_assumed=True)
    assert "AVG (assumed to be in use)" in judged(row("X", 1.1), used).text


def test_what_speaks_against_it_is_said_too() -> None:
    hour = timedelta(hours=1)
    best = row("X", 1.1, 2, moves_per_change=11.6, known=2 * hour)
    used = row("AVG", 1.5, 3, in_use=True, overload=2 * hour, never=hour)
    plan = row("BALANCED", 1.0)
    more = row("in_use+2", 1.3, 4, overload=hour / 2)
    found = judged(plan, best, used, more)
    assert found.further == [
        "With AVG, lag would never have drained during 1 h 00 m: somebody had more to "
        "do than any member was seen to take, or a queue had no owner.",
        "Time overloaded: 0 s with X, 2 h 00 m with AVG.",
        "It moves more queues each time members change: 11.6 instead of 4.0.",
        "A plan made for these loads (the balanced plan, by CONFIG) would have come to "
        "1.00.",
        "2 members more: overloaded for 30 m 00 s instead of 2 h 00 m.",
        "Measured for 2 h 00 m of 1 d 0 h.",
    ]


def test_members_that_change_nothing_are_said_to() -> None:
    found = judged(row("AVG", 1.0, in_use=True), row("in_use-1", 1.0, 2))
    assert found.further == ["1 member fewer: overloaded for the same time, 0 s."]


def test_unknown_overload_is_not_told() -> None:
    used = row("AVG", 1.0, in_use=True, overload=None, never=None)
    assert judged(used, row("in_use+1", 1.0, 2)).further == []
