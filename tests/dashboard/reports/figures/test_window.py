from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from analytics.lake import steps
from analytics.lake.storage import open_storage
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    Cluster,
    Epoch,
    JobRun,
    Role,
)
from dashboard.reports.data.view import report_for
from dashboard.reports.figures.window import (
    Window,
    WindowError,
    figure_within,
    read_window,
    shown_figure,
)
from dashboard.reports.report import Report
from tests.analytics.rolled import let_samples_go, roll_by_hand
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.drawn import values
from tests.dashboard.reports.finished import SINCE
from tests.dashboard.reports.zoomable import zoomable_run

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
TEN_MINUTES = Window(SINCE + timedelta(minutes=10), SINCE + timedelta(minutes=20))


@pytest.fixture
def run(lake: Path) -> JobRun:
    return zoomable_run(lake)


def lines(figure: dict[str, Any]) -> dict[str, list[Any]]:
    heat = figure["data"][0]
    return dict(zip(heat["y"], heat["customdata"], strict=True))


def test_a_window_is_read_again_in_finer_steps(run: JobRun) -> None:
    figure = figure_within(Report(run, SHANGHAI), "lag", TEN_MINUTES)
    assert figure["meta"]["step_seconds"] == 10
    assert figure["meta"]["text"] == "steps of 10 s, read from samples"
    lag, age = figure["data"][:2]
    assert list(values(lag).values()) == [3 * second for second in range(600, 1200, 10)]
    assert age["y"][-1] == 1190 * 20
    assert lag["customdata"][0] == [1800, 2, 2]
    assert figure["layout"]["xaxis"]["range"] == [
        "2026-03-13T08:10:00.000",
        "2026-03-13T08:20:00.000",
    ]


def test_without_the_epochs_of_its_time_a_window_is_only_cut(
    run: JobRun, settings: Any
) -> None:
    settings.ROCKETSCOPE_EPOCH_DAYS = 31
    figure = figure_within(Report(run, SHANGHAI), "lag", TEN_MINUTES)
    assert figure["meta"]["step_seconds"] == 600


def test_a_queue_without_samples_leaves_a_hole_not_a_part(lake: Path) -> None:
    run = zoomable_run(lake, lost=range(700, 760))
    Epoch.objects.create(
        cluster=Cluster.objects.get_or_create(name="hangzhou")[0],
        group="settlement",
        number=7,
        queues=[["orders", "broker-a", 0], ["orders", "broker-a", 1]],
        cause=Epoch.Cause.FIRST_SEEN,
        began_by=SINCE - timedelta(hours=1),
    )
    lag = figure_within(Report(run), "lag", TEN_MINUTES)["data"][0]
    known = {second for second in range(600, 1200, 10) if second not in range(700, 760)}
    drawn = {number for number in values(lag).values() if number is not None}
    assert drawn == {3 * second for second in known}
    heat = lines(figure_within(Report(run), "queues", TEN_MINUTES))
    assert heat["orders broker-a 0"][10:16] == list(range(700, 760, 10))
    assert heat["orders broker-a 1"][10:16] == [None] * 6


def test_the_map_keeps_its_lines(run: JobRun) -> None:
    found = lines(figure_within(Report(run), "queues", TEN_MINUTES))
    assert list(found) == ["orders broker-a 0", "orders broker-a 1"]
    assert found["orders broker-a 1"][:2] == [1200, 1220]


@pytest.mark.parametrize("by", ["topic", "group"])
def test_queues_are_summed_by_what_the_map_shows(run: JobRun, by: str) -> None:
    seen = report_for(run, {"by": by}, UTC, "UTC")
    (values,) = lines(figure_within(seen, "queues", TEN_MINUTES)).values()
    assert values[:2] == [1800, 1830]


def test_a_topic_alone_has_its_own_lag(run: JobRun) -> None:
    seen = report_for(run, {"topic": "orders"}, UTC, "UTC")
    figure = figure_within(seen, "lag", TEN_MINUTES)
    assert figure["data"][0]["y"][0] == 1800
    assert figure["meta"]["step_seconds"] == 10


def test_all_groups_are_read_too(lake: Path) -> None:
    run = zoomable_run(lake, group="")
    figure = figure_within(Report(run), "lag", TEN_MINUTES)
    assert (figure["meta"]["step_seconds"], figure["data"][0]["y"][0]) == (10, 1800)


@pytest.mark.parametrize("name", ["skew", "strategies"])
def test_what_needs_the_job_is_only_cut(run: JobRun, name: str) -> None:
    figure = figure_within(Report(run), name, TEN_MINUTES)
    assert "as the report was computed" in figure["meta"]["text"]


def test_a_consumer_has_the_steps_of_the_report(run: JobRun) -> None:
    seen = report_for(run, {"consumer": "=1+1"}, UTC, "UTC")
    figure = figure_within(seen, "lag", TEN_MINUTES)
    assert figure["meta"]["step_seconds"] == 600
    assert figure["layout"]["xaxis"]["range"][0] == "2026-03-13T00:10:00.000"


def test_without_samples_the_steps_of_the_report_stay(run: JobRun, lake: Path) -> None:
    for file in (lake / "landing").rglob("*.parquet"):
        file.unlink()
    figure = figure_within(Report(run), "lag", TEN_MINUTES)
    assert figure["meta"]["step_seconds"] == 600
    assert "as the report was computed" in figure["meta"]["text"]


@pytest.mark.parametrize(
    ("minutes", "step", "source"),
    [(10, 60, "roll-ups of 1 min"), (1.5, 60, "roll-ups of 1 min")],
)
def test_where_samples_are_gone_roll_ups_are_read(
    run: JobRun, lake: Path, minutes: float, step: int, source: str
) -> None:
    storage = open_storage(str(lake))
    roll_by_hand(storage, 0, run.since, run.until)
    before = figure_within(Report(run), "lag", TEN_MINUTES)
    assert before["meta"]["step_seconds"] == 10, "samples are finer while they are kept"
    let_samples_go(storage)
    window = Window(TEN_MINUTES.since, TEN_MINUTES.since + timedelta(minutes=minutes))
    figure = figure_within(Report(run), "lag", window)
    assert figure["meta"]["step_seconds"] == step
    assert figure["meta"]["text"] == f"steps of 1 min, read from {source}"
    assert figure["data"][0]["y"][0] == 3 * 625, "the mean of the minute"
    heat = lines(figure_within(Report(run), "queues", window))
    assert heat["orders broker-a 1"][0] == 2 * 625


def test_skew_of_a_window_says_what_it_was_computed_from(run: JobRun) -> None:
    run.summary["source"] = "rollup_queues_3600"
    for window in (None, TEN_MINUTES):
        meta = shown_figure(Report(run), "skew", window)["meta"]
        assert meta["text"] == "steps of 10 min, computed from roll-ups of 1 h"
        assert not meta["closer"], "so that a report of the span is offered"


def test_too_many_samples_are_not_read(
    run: JobRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MOST_ROWS", 10)
    figure = figure_within(Report(run), "queues", TEN_MINUTES)
    assert figure["meta"]["step_seconds"] == 600


def test_the_address_gives_local_times(run: JobRun) -> None:
    fields = {"from": "2026-03-13 08:10:00.25", "to": "2026-03-13 08:20"}
    window = read_window(Report(run, SHANGHAI), fields)
    assert window is not None
    assert window.since == datetime(2026, 3, 13, 0, 10, 0, 250_000, tzinfo=UTC)
    assert window.until == TEN_MINUTES.until
    assert read_window(Report(run, SHANGHAI), {}) is None


def test_a_window_is_held_within_the_period(run: JobRun) -> None:
    fields = {"from": "2026-03-12T00:00Z", "to": "2026-03-13T00:20Z"}
    assert read_window(Report(run), fields) == Window(SINCE, TEN_MINUTES.until)


@pytest.mark.parametrize(
    ("since", "until", "message"),
    [
        ("noon", "2026-03-13", "noon"),
        ("2026-03-13T00:10", "", "“”"),
        ("2026-03-13T00:20", "2026-03-13T00:10", "not within"),
        ("2026-03-13T00:20", "2026-03-13T00:20:05", "not within"),
        ("2027-01-01", "2027-01-02", "not within"),
    ],
)
def test_a_window_that_cannot_be_is_named(
    run: JobRun, since: str, until: str, message: str
) -> None:
    with pytest.raises(WindowError, match=message):
        read_window(Report(run), {"from": since, "to": until})


def test_page_and_api_give_the_same_window(
    run: JobRun, sign_in: SignIn, hangzhou: ClusterSettings
) -> None:
    client = sign_in(Role.VIEWER)
    query = "from=2026-03-13T00:10&to=2026-03-13T00:20"
    page = client.get(f"/reports/{run.pk}/figures/lag/?{query}").json()
    api = client.get(f"/api/v1/reports/runs/{run.pk}/figures/lag?{query}").json()
    assert page == api
    assert page["meta"]["step_seconds"] == 10
    wrong = "from=noon&to=night"
    assert (
        client.get(f"/reports/{run.pk}/figures/lag/?{wrong}").status_code,
        client.get(f"/api/v1/reports/runs/{run.pk}/figures/lag?{wrong}").status_code,
    ) == (404, 422)
