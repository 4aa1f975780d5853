"""Every figure is checked against Plotly's own schema, and for what it must say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from plotly import graph_objects

from dashboard.reports.data.values import (
    EpochBand,
    Lag,
    LagStep,
    Part,
    QueueRow,
    SkewSeries,
)
from dashboard.reports.figures.heatmap import (
    LEVELS,
    level,
    margin_for,
    queue_heatmap,
    shortened,
)
from dashboard.reports.figures.lag import lag_over_time
from dashboard.reports.figures.layout import count_axis, duration_axis
from dashboard.reports.figures.members import (
    MOST_LINES,
    members_over_time,
    shown_members,
)
from dashboard.reports.figures.skew import skew_over_time
from dashboard.reports.request.axis import Axis
from tests.dashboard.reports.drawn import hatched, strokes, values

SINCE = datetime(2026, 3, 13, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
AXIS = Axis(SINCE, SINCE + 10 * MINUTE, MINUTE, ZoneInfo("Asia/Shanghai"))


def at(step: int) -> datetime:
    return SINCE + step * MINUTE


def steps(*numbers: int, known: int = 2, **changes: Any) -> list[LagStep]:
    return [
        LagStep(
            at(n), known, 2, Lag(**({"mean": 10.0 * n, "age_ms": 500.0 * n} | changes))
        )
        for n in numbers
    ]


def known(*numbers: int) -> dict[datetime, Part]:
    return {at(n): Part(2, 2) for n in numbers}


def checked(figure: dict[str, Any]) -> dict[str, Any]:
    """Let Plotly judge a figure, with colours in place of their names."""
    text = re.sub(r'"--font"', '"sans-serif"', json.dumps(figure))
    text = re.sub(r'"--[a-z][a-z0-9-]*(/\d+)?"', '"#123456"', text)
    graph_objects.Figure(json.loads(text))
    return figure


def local(step: int) -> datetime:
    return at(step).astimezone(AXIS.zone).replace(tzinfo=None)


def test_lines_break_where_nothing_was_collected() -> None:
    figure = checked(lag_over_time(AXIS, steps(0, 1, 5, 6, 7, 8, 9), []))
    first, second = strokes(figure["data"][0])
    assert (first.since, first.until) == (local(0), local(2)), "up to the end of step 1"
    assert (second.since, second.until) == (local(5), local(10))
    assert list(first.values.values()) == [0, 10]
    (hole,) = hatched(figure)
    assert hole[:2] == (local(2), local(5))
    assert (hole.name, hole.text) == ("not collected", "not collected")
    assert hole.high == figure["layout"]["yaxis"]["range"][1]
    assert hatched(figure, "y2")[0][:2] == hole[:2], "the age lacks it as well"


def test_a_single_step_between_holes_is_seen() -> None:
    figure = checked(lag_over_time(AXIS, steps(5), []))
    (only,) = strokes(figure["data"][0])
    assert (only.since, only.until) == (local(5), local(6))
    assert [hole[:2] for hole in hatched(figure)] == [
        (local(0), local(5)),
        (local(6), local(10)),
    ]


@pytest.mark.parametrize("step", [0, 4, 9])
def test_a_part_of_the_queues_is_hatched_not_drawn(step: int) -> None:
    whole = [n for n in range(10) if n != step]
    part = steps(step, known=1, mean=7.0, age_ms=3000)
    figure = checked(lag_over_time(AXIS, [*steps(*whole), *part], []))
    assert local(step).isoformat(timespec="milliseconds") not in values(
        figure["data"][0]
    )
    (hole,) = hatched(figure)
    assert hole[:2] == (local(step), local(step + 1))
    assert hole.name == "partly unknown"
    assert hole.text == "partly unknown: ≥ 7, from 1 of 2 queues"
    (aged,) = hatched(figure, "y2")
    assert aged.text == "partly unknown: ≥ 3.0 s, from 1 of 2 queues"
    assert figure["layout"]["showlegend"]


def test_a_period_of_parts_alone_is_all_hatched() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10), known=1, mean=5.0), []))
    assert strokes(figure["data"][0]) == []
    assert {hole.name for hole in hatched(figure)} == {"partly unknown"}
    assert "yaxis2" not in figure["layout"]
    nothing = checked(lag_over_time(AXIS, steps(*range(10), known=0, mean=None), []))
    assert [hole[:2] for hole in hatched(nothing)] == [(local(0), local(10))]


def test_under_the_pointer_is_what_is_known_of_that_step_alone() -> None:
    unknown = replace(steps(3)[0], unknown=timedelta(seconds=8))
    part = steps(4, known=1)
    figure = checked(lag_over_time(AXIS, [*steps(0, 1, 2), unknown, *part], []))
    lines = [trace for trace in figure["data"] if trace["type"] == "scatter"]
    assert {trace["hoverinfo"] for trace in lines} == {"skip"}
    lag, age = (t for t in figure["data"] if t.get("marker", {}).get("opacity") == 0)
    said = dict(zip(lag["x"], lag["customdata"], strict=True))
    assert said["2026-03-13T08:02:00.000"] == "20 mean, 20 peak<br>2 of 2 queues known"
    assert said["2026-03-13T08:03:00.000"].endswith(
        "at least one queue not known for 8.0 s"
    )
    assert "2026-03-13T08:04:00.000" not in said, "the hatch tells of it"
    assert age["customdata"][1] == "0.5 s"


def test_a_period_without_holes_has_no_legend_of_them() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10)), []))
    assert hatched(figure) == []
    assert not figure["layout"]["showlegend"]


def test_a_step_whose_age_was_not_asked_is_hatched_below_alone() -> None:
    figure = checked(
        lag_over_time(AXIS, [*steps(*range(9)), *steps(9, age_ms=None)], [])
    )
    assert hatched(figure) == []
    (hole,) = hatched(figure, "y2")
    assert (hole.name, hole.text) == ("not known", "age was not asked")


def test_a_consumer_without_queues_has_no_lag_and_misses_nothing() -> None:
    idle = LagStep(at(3), 0, 0, Lag(None))
    figure = checked(lag_over_time(AXIS, [*steps(0, 1, 2, 4, 5, 6, 7, 8, 9), idle], []))
    assert [hole.text for hole in hatched(figure)] == ["no queues"]


def test_age_is_drawn_only_where_it_was_asked() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10), age_ms=None), []))
    named = [trace["name"] for trace in figure["data"] if "name" in trace]
    assert named == ["Lag"], "nobody asked for the age"
    assert "yaxis2" not in figure["layout"]
    with_age = checked(lag_over_time(AXIS, steps(*range(10)), []))
    assert with_age["data"][1]["yaxis"] == "y2"
    assert with_age["layout"]["height"] > figure["layout"]["height"]


def test_unknown_lag_is_no_zero() -> None:
    figure = checked(lag_over_time(AXIS, steps(*range(10), mean=None), []))
    assert figure["data"][0]["y"] == []
    (hole,) = hatched(figure)
    assert (hole[:2], hole.name) == ((local(0), local(10)), "not collected")


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


def test_an_epoch_shorter_than_its_label_has_its_numbers_and_its_name() -> None:
    bands = [EpochBand(n, 3, at(n), at(n + 1)) for n in range(10)]
    layout = checked(lag_over_time(AXIS, steps(*range(10)), bands))["layout"]
    notes = [note for note in layout["annotations"] if "epoch" in note["text"]]
    assert notes[7]["name"] == "epoch 0.100 7 3"
    assert notes[7]["hovertext"] == "epoch 7 · 3 members"


def test_an_epoch_of_a_moment_goes_without_a_label() -> None:
    bands = [EpochBand(1, 1, at(0), at(0) + MINUTE / 10)]
    layout = checked(lag_over_time(AXIS, steps(*range(10)), bands))["layout"]
    assert not [n for n in layout["annotations"] if "epoch" in n["text"]]


def test_long_names_of_rows_keep_both_ends_and_make_the_room_they_need() -> None:
    name = "a-topic-with-a-long-name · hz1@broker-a / 12"
    assert shortened(name) == "a-topic-with…broker-a / 12"
    assert shortened("orders · broker-a / 12") == "orders · broker-a / 12"
    assert margin_for([QueueRow("short", {})]) == 72
    assert margin_for([QueueRow(name, {})]) == 170


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
    heat = figure["data"][0]
    assert heat["z"][0][:4] == [0, None, 3, None]
    assert heat["customdata"][0][2] == 5_000
    assert heat["x"][0] == "2026-03-13T08:00:30.000", "a cell is centred on its step"
    assert [hole[:4] for hole in hatched(figure, "y2")] == [
        (local(0), local(2), 0, 1),
        (local(1), local(2), 1, 2),
        (local(3), local(10), 0, 2),
    ], "the upper row lacks step 1, the lower one 0 and 1, and both the rest"
    assert figure["layout"]["yaxis"]["autorange"] == "reversed"


def test_a_cell_of_a_part_is_hatched_as_such() -> None:
    values_ = {at(n): 10.0 for n in range(10)} | {at(4): None}
    rows = [
        QueueRow("orders", values_, {at(4): Part(8, 16, 1234.0)}),
        QueueRow("c1", {at(n): 1.0 for n in range(9)}, {}, frozenset({at(9)})),
    ]
    figure = checked(queue_heatmap(AXIS, rows))
    part, idle = hatched(figure, "y2")
    assert part[:4] == (local(4), local(5), 1, 2)
    assert part.text == "partly unknown: ≥ 1,234, from 8 of 16 queues"
    assert (idle.name, idle.text) == ("not known", "no queues")


def test_a_heatmap_of_nothing_is_a_figure_all_the_same() -> None:
    checked(queue_heatmap(AXIS, []))


def test_strategies_differ_by_dash_as_well_as_by_hue() -> None:
    series = [
        SkewSeries(name, name == "AVG", {at(0): 1.5, at(1): None})
        for name in ("AVG", "in_use-2", "BALANCED")
    ]
    figure = checked(skew_over_time(AXIS, series, known(0, 1)))
    data = figure["data"][:3]
    assert [trace["name"] for trace in data] == [
        "AVG (in use)",
        "2 members fewer",
        "Balanced plan",
    ]
    assert len({trace["line"]["dash"] for trace in data}) == 3
    assert len({trace["line"]["color"] for trace in data}) == 3
    assert values(data[0]) == {"2026-03-13T08:00:00.000": 1.5}
    assert [(hole[:2], hole.name) for hole in hatched(figure, "y2")] == [
        ((local(1), local(2)), "not known"),
        ((local(2), local(10)), "not collected"),
    ]


def test_there_is_no_skew_and_no_load_of_a_part() -> None:
    without = {at(n): None if n == 4 else 1.5 for n in range(10)}
    rates = known(*range(10)) | {at(4): Part(8, 16, 120.0)}
    skew = checked(skew_over_time(AXIS, [SkewSeries("AVG", True, without)], rates))
    members = checked(members_over_time(AXIS, [QueueRow("c@1#2", without)], rates))
    for figure, axis in ((skew, "y2"), (members, "y")):
        (hole,) = hatched(figure, axis)
        assert hole[:2] == (local(4), local(5))
        assert hole.text == "partly unknown: ≥ 120, from 8 of 16 queues"
        assert len(strokes(figure["data"][0])) == 2


def test_the_busiest_members_are_drawn_and_told_apart() -> None:
    lines = [
        QueueRow(f"10.0.0.{n % 2}@{n}#77", {at(0): 10.0 * n, at(1): None})
        for n in range(12, 0, -1)
    ]
    figure = checked(members_over_time(AXIS, lines, known(0)))
    data = [trace for trace in figure["data"] if trace["type"] == "scatter"]
    assert [trace["name"] for trace in data][:2] == ["10.0.0.0@12", "10.0.0.1@11"]
    assert len(data) == MOST_LINES
    assert list(values(data[0]).values()) == [120]
    checked(members_over_time(AXIS, [], {}))


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
