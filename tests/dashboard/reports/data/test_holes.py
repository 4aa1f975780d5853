"""Random holes: what is drawn is whole, each hole is hatched, and nothing is both."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dashboard.reports.data.holes import (
    Lack,
    find_holes,
    lag_lack,
    path_of,
    spans_of,
)
from dashboard.reports.data.values import (
    Lag,
    LagStep,
    Part,
    QueueRow,
    SkewSeries,
)
from dashboard.reports.figures.heatmap import queue_heatmap
from dashboard.reports.figures.lag import lag_over_time
from dashboard.reports.figures.members import members_over_time
from dashboard.reports.figures.skew import skew_over_time
from dashboard.reports.request.axis import Axis
from tests.dashboard.reports.drawn import Hatch, hatched, strokes

SINCE = datetime(2026, 3, 13, tzinfo=UTC)
STEP = timedelta(seconds=10)

axes = st.builds(
    lambda steps, cut: Axis(SINCE, SINCE + steps * STEP - cut, STEP, UTC),
    st.integers(2, 40),
    st.sampled_from([timedelta(0), timedelta(seconds=3)]),
)
"""Periods of so many steps, of which the last may be cut short."""

values = st.floats(0, 1e9)
known = st.sampled_from([0, 1, 8, 15, 16])


@st.composite
def lag_steps(draw: st.DrawFn, axis: Axis) -> list[LagStep]:
    """Draw steps of 16 queues: some known whole, some in part, some not there."""
    found = []
    for at in axis.steps():
        if draw(st.booleans()):
            count = draw(known)
            lag = Lag(draw(values) if count else None, None, draw(st.none() | values))
            found.append(LagStep(at, count, 16, lag))
    return draw(st.permutations(found))


def of_axis(axis: Axis, at: datetime) -> tuple[datetime, datetime]:
    """Return a step as figures of UTC have it."""
    return at.replace(tzinfo=None), axis.end_of(at).replace(tzinfo=None)


def check(
    axis: Axis,
    lines: Sequence[dict[str, Any]],
    holes: Sequence[Hatch],
    whole: set[datetime],
) -> None:
    """Hold a figure to the rule: a step is drawn or hatched, as it is whole or not."""
    for at in axis.steps():
        since, until = of_axis(axis, at)
        is_hatched = any(hole.since <= since and until <= hole.until for hole in holes)
        is_crossed = any(
            stroke.since < until and since < stroke.until
            for line in lines
            for stroke in strokes(line)
        )
        assert is_hatched != is_crossed
        assert is_crossed == (at in whole)
    drawn = {x for line in lines for stroke in strokes(line) for x in stroke.values}
    assert drawn == {axis.local(at) for at in whole}


def check_areas(figure: dict[str, Any]) -> None:
    """Hold the surfaces below the lines to 0 between their pieces."""
    lines = [t for t in figure["data"] if "name" in t and t["type"] == "scatter"]
    areas = [trace for trace in figure["data"] if trace.get("fill")]
    for line, area in zip(lines, areas, strict=True):
        outline = [
            (datetime.fromisoformat(x), y)
            for x, y in zip(area["x"], area["y"], strict=True)
        ]
        grounded = {at for at, y in outline if y == 0}
        edges = [edge for piece in strokes(line) for edge in piece[:2]]
        assert set(edges[:-1]) <= grounded
        for left, right in zip(edges[1::2], edges[2::2], strict=False):
            assert not [y for at, y in outline if left < at < right and y]


@given(st.data(), axes)
def test_lag_and_age_are_drawn_of_whole_steps_and_hatched_elsewhere(
    data: st.DataObject, axis: Axis
) -> None:
    steps = data.draw(lag_steps(axis))
    figure = lag_over_time(axis, steps, [])
    whole = {step.since for step in steps if step.known == step.queues}
    check(axis, figure["data"][:1], hatched(figure), whole)
    check_areas(figure)
    aged = {step.since for step in steps if step.age_ms is not None}
    assert aged <= whole
    if aged:
        check(axis, figure["data"][1:2], hatched(figure, "y2"), aged)


@given(st.data(), axes)
def test_what_is_counted_is_what_is_hatched(data: st.DataObject, axis: Axis) -> None:
    steps = data.draw(lag_steps(axis))
    by_time = {step.since: step for step in steps}
    holes = find_holes(axis, lambda at: lag_lack(by_time.get(at)))
    drawn = hatched(lag_over_time(axis, steps, []))
    for lack, name in ((Lack.NOTHING, "not collected"), (Lack.PART, "partly unknown")):
        shown = [hole for hole in drawn if hole.name == name]
        spans = spans_of(holes, lack)
        assert sum(spans, timedelta(0)) == sum(
            (hole.until - hole.since for hole in shown), timedelta(0)
        )
        begins = {hole.since for hole in shown} - {hole.until for hole in shown}
        assert len(spans) == len(begins)


@given(st.data(), axes)
def test_a_load_is_drawn_where_a_line_has_one(data: st.DataObject, axis: Axis) -> None:
    line = st.dictionaries(st.sampled_from(axis.steps()), st.none() | values)
    lines = data.draw(st.lists(line, min_size=1, max_size=4))
    counts = st.builds(Part, known, st.just(16))
    rates = data.draw(st.dictionaries(st.sampled_from(axis.steps()), counts))
    skew = skew_over_time(axis, [SkewSeries("AVG", True, v) for v in lines], rates)
    members = members_over_time(
        axis, [QueueRow(f"c@{n}", v) for n, v in enumerate(lines)], rates
    )
    whole = {at for v in lines for at, value in v.items() if value is not None}
    for figure, name in ((skew, "y2"), (members, "y")):
        drawn = [trace for trace in figure["data"] if trace["type"] == "scatter"]
        check(axis, drawn, hatched(figure, name), whole)


@given(st.data(), axes, st.integers(1, 6))
def test_each_cell_has_a_colour_or_a_hatch(
    data: st.DataObject, axis: Axis, count: int
) -> None:
    rows = []
    for number in range(count):
        line = st.dictionaries(st.sampled_from(axis.steps()), st.none() | values)
        found = data.draw(line)
        parts = {at: Part(1, 2, 5.0) for at, value in found.items() if value is None}
        rows.append(QueueRow(f"T b {number}", found, parts))
    figure = queue_heatmap(axis, rows)
    holes = hatched(figure, "y2")
    for place, cells in enumerate(figure["data"][0]["z"]):
        low = count - 1 - place
        for at, cell in zip(axis.steps(), cells, strict=True):
            since, until = of_axis(axis, at)
            over = [
                hole
                for hole in holes
                if hole.low <= low < hole.high
                and hole.since <= since
                and until <= hole.until
            ]
            assert len(over) == (cell is None), "hatched once, or coloured"
            part = rows[place].parts.get(at)
            assert {hole.name for hole in over} == (
                set()
                if cell is not None
                else {"partly unknown" if part else "not collected"}
            )


def test_a_path_goes_to_the_end_of_its_last_step() -> None:
    axis = Axis(SINCE, SINCE + 4 * STEP, STEP, UTC)
    at = axis.steps()
    assert path_of(axis, {at[0]: 1.0, at[1]: None, at[3]: 2.0}) == [
        (at[0], at[0]),
        (at[1], at[0]),
        (at[1], None),
        (at[3], at[3]),
        (axis.until, at[3]),
    ]
    assert path_of(axis, {}) == []
