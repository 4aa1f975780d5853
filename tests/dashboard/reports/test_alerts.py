"""The alerts of a report: which it holds, and that every view of it shows them."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pypdf
import pytest
from django.utils import translation

from analytics.lake.storage import open_storage
from dashboard.models import (
    Alert,
    AlertSubject,
    Grant,
    JobRun,
    Ownership,
    Role,
    Team,
    User,
)
from dashboard.reports import alert_records, runner
from dashboard.reports.alert_records import keep_alerts
from dashboard.reports.data import alerts as held
from dashboard.reports.data.alerts import alerts_of
from dashboard.reports.data.output import output_of
from dashboard.reports.data.tables import ALERTS
from dashboard.reports.report import Report
from dashboard.reports.writers.csv_file import csv_pieces
from dashboard.reports.writers.html_file import html_text
from dashboard.reports.writers.parquet_file import write_parquet
from dashboard.reports.writers.pdf.document import write_pdf
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.conftest import SignIn
from tests.dashboard.jobs.conftest import MakeChild

from .finished import finished_run, moment

pytestmark = pytest.mark.django_db

NONE_OPEN = "No alert was open in this period."
TOO_OLD = "This report was made before reports held alerts: it has none."


def opened(
    name: str = "settlement", since: int = 2, until: int | None = 4, **fields: Any
) -> Alert:
    """Keep an alert that was open from one minute of the period to another."""
    closed = None if until is None else moment(until)
    given = {
        "rule_name": "Lag of <orders>",
        "kind": "lag",
        "severity": "crit",
        "cluster": "hangzhou",
        "key": f"{name} {since}",
        "opened_at": moment(since),
        "closed_at": closed,
        "end": "" if closed is None else "cleared",
        **fields,
    }
    alert = Alert.objects.create(**given)
    AlertSubject.objects.create(
        alert=alert,
        name=name,
        began_at=moment(since) - timedelta(seconds=60),
        opened_at=moment(since),
        closed_at=closed,
    )
    return alert


def with_alerts(run: JobRun) -> JobRun:
    """Keep the alerts of a finished run, as its worker does."""
    run.summary = runner._with_alerts(run, run.summary)
    run.save()
    return run


@pytest.fixture
def run(lake: Path, hangzhou: object) -> JobRun:
    return finished_run(lake)


def names(run: JobRun) -> list[str]:
    return [line.name for line in alerts_of(Report(run)).lines]


def test_it_holds_what_was_open_within_the_period(run: JobRun) -> None:
    opened(key="before", since=-9, until=-1)
    opened(key="into", since=-9, until=0)
    opened(key="over", since=-9, until=None)
    opened(key="within", since=3, until=4)
    opened(key="last", since=9, until=99)
    opened(key="after", since=10, until=None)
    opened("another-group", key="another")
    opened(key="elsewhere", cluster="shanghai")
    opened("settlement", key="broker", kind="broker")
    with_alerts(run)
    found = [line.alert for line in alerts_of(Report(run)).lines]
    kept = Alert.objects.filter(key__in=["into", "over", "within", "last"])
    assert sorted(found) == sorted(kept.values_list("pk", flat=True))
    assert run.summary["rows"][ALERTS.key] == 4


def test_a_report_of_all_groups_holds_brokers_too(lake: Path) -> None:
    run = finished_run(lake, group="", groups=("settlement", "billing"))
    opened("settlement")
    opened("billing", since=1)
    opened("broker-a", since=3, kind="broker")
    with_alerts(run)
    assert names(run) == ["billing", "settlement", "broker-a"]
    lines = alerts_of(Report(run)).lines
    assert [line.is_group for line in lines] == [True, True, False]


def test_it_says_the_same_later(run: JobRun) -> None:
    team = Team.objects.create(name="Orders")
    Ownership.objects.create(team=team, cluster="hangzhou", groups="settlement")
    opened(until=None)
    before = alerts_of(Report(with_alerts(run)))
    Alert.objects.update(severity="warn", acknowledged_by_name="wu")
    AlertSubject.objects.update(closed_at=moment(5))
    team.delete()
    assert alerts_of(Report(run)) == before
    assert (before.lines[0].team, before.lines[0].closed) == ("Orders", "")
    Alert.objects.all().delete()
    assert alerts_of(Report(run)) == before


def test_more_than_it_holds_is_counted(
    run: JobRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alert_records, "MOST_ROWS", 3)
    monkeypatch.setattr(held, "LISTED", 2)
    for minute in range(5):
        opened(since=minute, until=None)
    found = alerts_of(Report(with_alerts(run)))
    assert (found.all, found.kept) == (5, 3)
    assert [line.opened[14:16] for line in found.lines] == ["03", "04"]
    assert found.notes[0] == "There were 5, of which the report holds the newest 3."
    assert found.listed.startswith("The newest 2 are listed; ")
    assert "all 3 that" in found.listed


def test_a_period_beyond_what_alerts_are_kept_for_says_so(
    run: JobRun, settings: Any
) -> None:
    settings.ROCKETSCOPE_ALERT_DAYS = 7
    notes = alerts_of(Report(with_alerts(run))).notes
    assert notes[0] == "No alert of this period is known."
    assert notes[1].startswith("Alerts that closed before ")
    settings.ROCKETSCOPE_ALERT_DAYS = 3650
    assert alerts_of(Report(with_alerts(run))).notes == [NONE_OPEN]


def test_the_worker_writes_them_with_the_result(
    lake: Path, run: JobRun, make_child: MakeChild
) -> None:
    opened()
    JobRun.objects.update(state=JobRun.State.QUEUED, summary={})
    assert runner.run_claimed(run.pk, make_child(**{f"job{run.pk}": "done"}))
    run.refresh_from_db()
    assert run.summary["rows"] == {ALERTS.key: 1}
    stored = open_storage(output_of(run)).list_files(ALERTS.key)
    assert sum(file.size for file in stored) <= (run.size_bytes or 0)


def test_a_report_whose_alerts_cannot_be_written_failed(
    run: JobRun, make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_run: JobRun) -> dict[str, Any]:
        raise OSError("no space left")

    monkeypatch.setattr(runner, "keep_alerts", full)
    JobRun.objects.update(state=JobRun.State.QUEUED)
    assert runner.run_claimed(run.pk, make_child(**{f"job{run.pk}": "done"}))
    run.refresh_from_db()
    assert run.state == JobRun.State.FAILED
    assert run.error == "its alerts are not written: no space left"


def printed(run: JobRun, folder: Path) -> str:
    write_pdf(Report(run), folder / "report.pdf", "a4")
    pages = pypdf.PdfReader(folder / "report.pdf").pages
    return "\n".join(page.extract_text() for page in pages)


def workbook(run: JobRun, folder: Path) -> Any:
    write_xlsx(Report(run), folder / "report.xlsx")
    return openpyxl.load_workbook(folder / "report.xlsx")


def listed(run: JobRun) -> list[dict[str, str]]:
    text = b"".join(csv_pieces(Report(run), ALERTS)).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_every_view_shows_them(run: JobRun, sign_in: SignIn, tmp_path: Path) -> None:
    alert = opened(cause="stalled", acknowledged_by_name="olga")
    with_alerts(run)
    client = sign_in(Role.VIEWER)
    page = client.get(f"/reports/{run.pk}/").content.decode()
    table = page.partition('data-table="alerts"')[2].partition("</table>")[0]
    assert f'<a href="/clusters/hangzhou/alerts/{alert.pk}/">Lag of &lt;orders' in table
    for text in (page, html_text(Report(run))):
        # The last of them: the style sheet in a file names the table, too.
        table = text.rpartition('data-table="alerts"')[2].partition("</table>")[0]
        for shown in ("settlement", "critical", "Lag of &lt;orders&gt;", "olga"):
            assert shown in table
        assert "2026-03-13 00:02:00" in table
        assert "2026-03-13 00:04:00" in table
    text = printed(run, tmp_path)
    assert "critical · settlement · Lag of <orders>" in text
    assert "2026-03-13 00:02:00 – 2026-03-13 00:04:00" in text
    assert "acknowledged by olga" in text
    (row,) = listed(run)
    assert (row["severity"], row["finding"]) == ("crit", "stalled")
    assert row["opened_at"] == "2026-03-13T00:02:00+00:00"
    sheet = workbook(run, tmp_path)["Alerts"]
    cells = dict(zip(*list(sheet.values)[:2], strict=True))
    assert (cells["Severity"], cells["How it ended"]) == ("critical", "it is over")
    assert cells["Finding"] != "stalled"
    write_parquet(Report(run), ALERTS, tmp_path / "alerts.parquet")
    (answer,) = client.get(f"/api/v1/reports/runs/{run.pk}/alerts").json()["alerts"]
    assert answer["opened_at"] == "2026-03-13T00:02:00Z"
    assert (answer["alert"], answer["acknowledged_by"]) == (alert.pk, "olga")


def test_an_alert_that_was_deleted_is_no_link(run: JobRun, sign_in: SignIn) -> None:
    alert = opened()
    with_alerts(run)
    alert.delete()
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert "Lag of &lt;orders&gt;" in page
    assert "/alerts/1/" not in page


@pytest.mark.parametrize("kept", [True, False], ids=["none", "older"])
def test_none_open_and_none_held_are_told_apart(
    kept: bool, run: JobRun, sign_in: SignIn, tmp_path: Path, settings: Any
) -> None:
    settings.ROCKETSCOPE_ALERT_DAYS = 3650
    opened("another-group")
    if kept:
        with_alerts(run)
    note = NONE_OPEN if kept else TOO_OLD
    client = sign_in(Role.VIEWER)
    shown = client.get(f"/reports/{run.pk}/").content.decode()
    about = {row[0]: row[1] for row in workbook(run, tmp_path)["About"].values}
    texts = [shown, html_text(Report(run)), printed(run, tmp_path), about["Alerts"]]
    other = TOO_OLD if kept else NONE_OPEN
    for text in texts:
        assert note in text
        assert other not in text
    answer = client.get(f"/api/v1/reports/runs/{run.pk}/alerts").json()
    assert (answer["kept"], answer["alerts"]) == (kept, [])
    with translation.override("zh-hans"):
        assert alerts_of(Report(run)).notes != [note]


def test_only_who_sees_the_cluster_sees_them(run: JobRun, sign_in: SignIn) -> None:
    opened()
    with_alerts(run)
    client = sign_in(Role.VIEWER)
    mei = User.objects.get()
    User.objects.update(role="")
    Grant.objects.create(user=mei, role=Role.VIEWER, cluster="shanghai")
    path = f"/api/v1/reports/runs/{run.pk}/alerts"
    assert client.get(path).status_code == 404
    Grant.objects.create(user=mei, role=Role.VIEWER, cluster="hangzhou")
    assert client.get(path).status_code == 200


def test_nothing_is_read_of_the_facts(
    run: JobRun, django_assert_num_queries: Any
) -> None:
    for minute in range(3):
        opened(since=minute)
    with django_assert_num_queries(2):
        keep_alerts(run)
