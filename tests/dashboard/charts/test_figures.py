"""Every figure is checked against Plotly's own schema, and for what it must say."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from plotly import graph_objects

from dashboard.charts.heatmap import LEVELS, level, queue_heatmap
from dashboard.charts.lag import lag_over_time
from dashboard.charts.layout import count_axis, duration_axis
from dashboard.charts.members import MOST_LINES, members_over_time, shown_members
from dashboard.charts.series import (
    Axis,
    EpochBand,
    LagStep,
    QueueRow,
    SkewSeries,
    gaps,
)
from dashboard.charts.skew import skew_over_time

SINCE = datetime(2026, 3, 13, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
AXIS = Axis(SINCE, SINCE + 10 * MINUTE, MINUTE, ZoneInfo("Asia/Shanghai"))


def at(step: int) -> datetime:
    return SINCE + step * MINUTE


def steps(*numbers: int, **changes: Any) -> list[LagStep]:
    return [
        LagStep(at(n), **({"lag": 10.0 * n, "age_ms": 500.0 * n} | changes))
        for n in numbers
    ]


def checked(figure: dict[str, Any]) -> dict[str, Any]:
    """Let Plotly judge a figure, with colours in place of their names."""
    text = re.sub(r'"--font"', '"sans-serif"', json.dumps(figure))
    text = re.sub(r'"--[a-z][a-z0-9-]*(/\d+)?"', '"#123456"', text)
    graph_objects.Figure(json.loads(text))
    return figure


def test_gaps_are_whole_steps_without_samples() -> None:
    assert gaps(AXIS, [at(n) for n in (0, 1, 5, 9)]) == [
        (at(2), at(5)),
        (at(6), at(9)),
    ]
    assert gaps(AXIS, [at(n) for n in (0, 2, 4, 6, 8, 9)]) == [], "a minute is no gap"
    assert gaps(AXIS, []) == [(at(0), at(10))]


def test_lines_break_where_nothing_was_collected() -> None:
    figure = checked(lag_over_time(AXIS, steps(0, 1, 5, 6, 7, 8, 9), []))
    lag, age, hatched = figure["data"]
    assert lag["y"] == [0, 10, None, 50, 60, 70, 80, 90]
    assert lag["x"][2] == "2026-03-13T08:02:00.000"
    assert age["y"][2] is None
    assert hatched["type"] == "bar"
    assert hatched["width"] == [180_000]
    assert hatched["x"] == ["2026-03-13T08:03:30.000"]


def test_age_is_drawn_only_where_it_was_asked() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10), age_ms=None), []))
    assert [trace["name"] for trace in figure["data"]] == ["Lag"]
    assert "yaxis2" not in figure["layout"]
    with_age = checked(lag_over_time(AXIS, steps(*range(10)), []))
    assert with_age["data"][1]["yaxis"] == "y2"
    assert with_age["layout"]["height"] > figure["layout"]["height"]


def test_unknown_lag_is_no_zero() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10), lag=None), []))
    assert set(figure["data"][0]["y"]) == {None}


def test_epochs_are_bands_with_their_names() -> None:
    bands = [
        EpochBand(40, 3, SINCE - MINUTE, at(5)),
        EpochBand(41, 6, at(5), None),
        EpochBand(42, 6, at(12), None),
    ]
    layout = checked(lag_over_time(AXIS, steps(*range(10)), bands))["layout"]
    texts = [note["text"] for note in layout["annotations"]]
    assert texts[:2] == ["epoch 40 · 3 members", "epoch 41 · 6 members"]
    lines = [shape for shape in layout["shapes"] if shape["type"] == "line"]
    assert [shape["x0"] for shape in lines] == ["2026-03-13T08:05:00.000"]


def test_an_epoch_shorter_than_its_label_goes_without() -> None:
    bands = [EpochBand(n, 1, at(n), at(n + 1)) for n in range(10)]
    layout = checked(lag_over_time(AXIS, steps(*range(10)), bands))["layout"]
    assert not [n for n in layout["annotations"] if "epoch" in n["text"]]


@pytest.mark.parametrize(
    ("lag", "expected"),
    [(0, 0), (1, 1), (100, 1), (101, 2), (99_999, 4), (100_000, 4), (100_001, 5)],
)
def test_levels_are_powers_of_ten(lag: float, expected: int) -> None:
    assert level(lag) == expected
    assert len(LEVELS) == 5


def test_a_heatmap_keeps_unknown_apart_from_nothing() -> None:
    rows = [
        QueueRow("orders broker-a 0", {at(0): 0.0, at(1): None, at(2): 5_000.0}),
        QueueRow("orders broker-a 1", {at(2): 1.0}),
    ]
    figure = checked(queue_heatmap(AXIS, rows))
    heat, hatched = figure["data"]
    assert heat["z"][0][:4] == [0, None, 3, None]
    assert heat["customdata"][0][2] == 5_000
    assert heat["x"][0] == "2026-03-13T08:00:30.000", "a cell is centred on its step"
    assert hatched["width"] == [7 * 60_000]
    assert figure["layout"]["yaxis"]["autorange"] == "reversed"


def test_a_heatmap_of_nothing_is_a_figure_all_the_same() -> None:
    checked(queue_heatmap(AXIS, []))


def test_strategies_differ_by_dash_as_well_as_by_hue() -> None:
    series = [
        SkewSeries(name, name == "AVG", [(at(0), 1.5), (at(1), None)])
        for name in ("AVG", "in_use-2", "BALANCED")
    ]
    *data, hatched = checked(skew_over_time(AXIS, series))["data"]
    assert [trace["name"] for trace in data] == [
        "AVG (in use)",
        "2 members fewer",
        "Balanced plan",
    ]
    assert len({trace["line"]["dash"] for trace in data}) == 3
    assert len({trace["line"]["color"] for trace in data}) == 3
    assert data[0]["y"] == [1.5, None, None], "no line bridges what was not collected"
    assert hatched["width"] == [8 * 60_000]


def test_the_busiest_members_are_drawn_and_told_apart() -> None:
    lines = [
        QueueRow(f"10.0.0.{n % 2}@{n}#77", {at(0): 10.0 * n, at(1): None})
        for n in range(12, 0, -1)
    ]
    figure = checked(members_over_time(AXIS, lines))
    *data, _hatched = figure["data"]
    assert [trace["name"] for trace in data][:2] == ["10.0.0.0@12", "10.0.0.1@11"]
    assert len(data) == MOST_LINES
    assert data[0]["y"][:2] == [120, None]
    checked(members_over_time(AXIS, []))


def test_labels_that_would_be_equal_are_whole_client_ids() -> None:
    ids = ["10.0.0.1@4#77", "10.0.0.1@4#78"]
    shown = shown_members([QueueRow(each, {}) for each in ids])
    assert [label for label, _line in shown] == ids


def test_axes_are_labelled_in_units_that_people_read() -> None:
    assert count_axis(0, (0, 1))["dtick"] == 1
    assert count_axis(500, (0, 1))["tickformat"] == ",d"
    assert count_axis(200_000, (0, 1))["tickformat"] == "~s"
    assert duration_axis(0, (0, 1))["ticktext"][:2] == ["0", "1.0 s"]
    day = 24 * 3600 * 1000
    axis = duration_axis(30 * day, (0, 1))
    assert len(axis["tickvals"]) <= 6
    assert axis["ticktext"][1].endswith("d 0 h")
