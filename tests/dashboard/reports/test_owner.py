"""The report of a group says which team owns it, on its page and in its files."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pypdf
import pytest

from dashboard.models import JobRun, Ownership, Role, Team
from dashboard.reports.report import Report
from dashboard.reports.writers.html_file import html_text
from dashboard.reports.writers.pdf.document import write_pdf
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.finished import finished_run, two_epochs

CONTACT = "https://chat.example.org/orders"


@pytest.fixture
def run(lake: Path, hangzhou: object) -> JobRun:
    two_epochs()
    return finished_run(lake)


@pytest.fixture
def owned(run: JobRun) -> None:
    team = Team.objects.create(name="Orders", contact=CONTACT)
    Ownership.objects.create(team=team, cluster=run.cluster, groups=run.group)


def about(run: JobRun, folder: Path) -> dict[str, str]:
    file = folder / "report.xlsx"
    write_xlsx(Report(run), file)
    rows = openpyxl.load_workbook(file)["About"].values
    return {str(row[0]): str(row[1]) for row in rows}


def printed(run: JobRun, folder: Path) -> str:
    file = folder / "report.pdf"
    write_pdf(Report(run), file, "a4")
    return pypdf.PdfReader(file).pages[0].extract_text()


@pytest.mark.usefixtures("owned")
def test_page_and_files_name_the_team_and_its_contact(
    run: JobRun, sign_in: SignIn, tmp_path: Path
) -> None:
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    link = f'<a href="{CONTACT}" rel="noopener noreferrer">{CONTACT}</a>'
    assert link in page
    assert f"Team: Orders · {link}" in html_text(Report(run))
    assert f"Team: Orders · Contact: {CONTACT}" in printed(run, tmp_path)
    found = about(run, tmp_path)
    assert (found["Team"], found["Contact"]) == ("Orders", CONTACT)


def test_without_a_team_nothing_is_said_of_one(
    run: JobRun, sign_in: SignIn, tmp_path: Path
) -> None:
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert "Team:" not in page
    assert "Team:" not in html_text(Report(run))
    assert "Team:" not in printed(run, tmp_path)
    assert "Team" not in about(run, tmp_path)
