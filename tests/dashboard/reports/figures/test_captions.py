"""What is said where a figure or a list shows a part: on pages, in HTML, on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import translation
from openpyxl import load_workbook

from analytics import contracts as c
from dashboard.models import Grouping, Role
from dashboard.reports.data import facts, series, view
from dashboard.reports.data.series import heat_count, heat_lines
from dashboard.reports.data.view import names_in
from dashboard.reports.figures import captions
from dashboard.reports.figures.captions import heat_part, members_part, worst_part
from dashboard.reports.report import Report, View
from dashboard.reports.writers.html_file import charts_of, html_text
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.finished import finished_run

pytestmark = pytest.mark.usefixtures("hangzhou")

GROUPS = ("billing", "settlement", "shipping")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "MOST_LINES", 2)
    monkeypatch.setattr(facts, "WORST_GROUPS", 2)
    monkeypatch.setattr(captions, "MOST_LINES", 1)
    monkeypatch.setattr(captions, "MOST_ROWS", 1)


def notes(report: Report, most_rows: int | None = 1) -> dict[str, str]:
    return {chart.name: chart.note for chart in charts_of(report, most_rows)}


def test_the_worst_lines_of_a_heatmap_are_counted(lake: Path, sign_in: SignIn) -> None:
    run = finished_run(lake, group="", groups=GROUPS)
    report = Report(run)
    assert (len(heat_lines(report)), heat_count(report)) == (2, 3)
    assert heat_part(report) == "2 of 3 groups, the worst"
    assert notes(report, None)["queues"].endswith(" · 2 of 3 groups, the worst")
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert page.count("2 of 3 groups, the worst") == 2
    assert html_text(report).count("2 of 3 groups, the worst") == 2
    assert worst_part(report) == "2 of 3 groups, the worst"
    write_xlsx(report, lake / "report.xlsx")
    sheet = load_workbook(lake / "report.xlsx")["Lag map"]
    assert str(sheet["A1"].value).endswith(" · 2 of 3 groups, the worst")
    with translation.override("zh-hans"):
        assert "groups" not in heat_part(report)


def test_nothing_is_said_of_what_is_shown_as_a_whole(lake: Path) -> None:
    report = Report(finished_run(lake, group="", groups=GROUPS[:2]))
    assert (heat_part(report), worst_part(report)) == ("", "")


def test_consumers_are_counted_by_name(lake: Path) -> None:
    run = finished_run(lake, consumers=("=1+1", "=2", "=3"))
    report = Report(run, view=View(by=Grouping.CONSUMER))
    assert heat_part(report) == "2 of 3 consumers, the worst"


def test_queues_beyond_the_room_of_a_page_are_on_paper(lake: Path) -> None:
    report = Report(finished_run(lake))
    said = "the first 1 of 2 queues; the table has all"
    assert heat_part(report, 1) == said
    assert notes(report)["queues"].endswith(said)
    assert heat_part(report, None) == ""


def test_members_that_are_not_drawn_are_counted(lake: Path, sign_in: SignIn) -> None:
    run = finished_run(lake, consumers=("=1+1", "=2"))
    report = Report(run)
    assert members_part(report) == "1 of 2 members"
    assert notes(report)["members"].endswith(" · 1 of 2 members")
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert " · 1 of 2 members" in page


def test_of_very_many_names_the_others_can_be_typed(
    lake: Path, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(lake, consumers=("=1+1", "=2", "=3"))
    viewer = sign_in(Role.VIEWER)
    page = viewer.get(f"/reports/{run.pk}/").content.decode()
    assert '<select class="input" name="consumer">' in page
    assert "can be typed" not in page
    monkeypatch.setattr(view, "MOST_NAMES", 2)
    names = names_in(Report(run), c.LAG_BY_CONSUMER, c.CLIENT_ID)
    assert (len(names.listed), names.all) == (2, 3)
    page = viewer.get(f"/reports/{run.pk}/?consumer=%3D3").content.decode()
    assert '<input class="input" name="consumer" value="=3" list=' in page
    assert "2 of 3 are offered; any can be typed." in page
