"""Goals of benchmarks: their lines, and the table made of them."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import RUNS, main, table
from benchmarks.goals import Goal, cells_of


@pytest.mark.parametrize(
    ("at_least", "value", "met"),
    [
        (False, 50.0, True),
        (False, 50.1, False),
        (True, 50.0, True),
        (True, 49.9, False),
    ],
)
def test_limit_itself_is_still_met(at_least: bool, value: float, met: bool) -> None:
    goal = Goal("list of groups", 50, "ms", at_least)
    assert goal.met(value) is met
    cells = cells_of(goal.line(value))
    assert cells is not None
    assert cells[0] == "list of groups"
    assert cells[-1] == ("met" if met else "MISSED")


def test_other_lines_are_no_goals() -> None:
    assert cells_of("  in all      970.7\n") is None


def test_table_has_a_row_for_each_goal() -> None:
    lines = [
        Goal("first", 1000, "ms").line(12.5),
        Goal("second", 1, "times").line(1.75),
    ]
    header, rule, first, second = table([cells_of(line) or [] for line in lines])
    assert len({len(header), len(rule), len(first), len(second)}) == 1
    assert "12.5 ms" in first
    assert "at most 1,000 ms" in first
    assert "MISSED" in second


def test_unknown_benchmark_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["whatiff"])
    assert refused.value.code == 2
    said = capsys.readouterr().err
    assert "'whatiff'" in said
    assert all(name in said for name in RUNS)
