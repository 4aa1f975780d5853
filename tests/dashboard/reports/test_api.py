from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    AuditEntry,
    JobRun,
    ReportDefinition,
    Role,
)
from dashboard.reports.data.facts import facts_of
from dashboard.reports.figures.gallery import figure_of
from dashboard.reports.report import Report
from dashboard.reports.writers.files import keep_files
from tests.dashboard.conftest import SignIn

from .finished import finished_run, moment
from .test_pages import gathered

BASE = "/api/v1/reports"
DAILY = {
    "name": "Daily lag",
    "cluster": "hangzhou",
    "group": "settlement",
    "period": "24h",
    "formats": ["csv", "pdf"],
    "every": "day",
    "at_minute": 5,
    "zone": "Asia/Shanghai",
}


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "send_task", lambda _name, args: None)


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> Path:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return tmp_path


def sent(client: Client, method: str, path: str, **body: Any) -> Any:
    call = getattr(client, method)
    return call(BASE + path, body, content_type="application/json")


def test_strangers_are_refused(lake: Path) -> None:
    run = finished_run(lake)
    for path in ("/definitions", "/runs", f"/runs/{run.pk}/download/csv"):
        assert Client().get(BASE + path).status_code == 401, path


def test_a_definition_is_made_changed_run_and_deleted(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    made = sent(client, "post", "/definitions", **DAILY)
    assert made.status_code == 201
    pk = made.json()["id"]
    assert made.json() | DAILY == made.json()
    assert datetime.fromisoformat(made.json()["next_at"]) > datetime.now(UTC)
    assert made.json()["made_by"] == "operator"
    changed = sent(client, "put", f"/definitions/{pk}", **(DAILY | {"every": ""}))
    assert (changed.json()["every"], changed.json()["next_at"]) == ("", None)
    run = sent(client, "post", f"/definitions/{pk}/run")
    assert run.status_code == 202
    assert (run.json()["definition"], run.json()["state"]) == (pk, "queued")
    listed = client.get(f"{BASE}/runs?definition={pk}").json()
    assert [each["id"] for each in listed] == [run.json()["id"]]
    assert client.delete(f"{BASE}/definitions/{pk}").status_code == 204
    assert client.get(f"{BASE}/definitions").json() == []
    assert JobRun.objects.get().definition is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"period": "century"}, "century"),
        ({"every": "blue moon"}, "blue moon"),
        ({"at_minute": 2000}, "2000"),
        ({"formats": ["doc"]}, "doc"),
        ({"zone": "Mars/Base"}, "Mars/Base"),
        ({"cluster": "nowhere"}, "nowhere"),
    ],
)
def test_a_wrong_definition_names_the_value(
    sign_in: SignIn, changes: dict[str, Any], message: str
) -> None:
    answer = sent(sign_in(Role.OPERATOR), "post", "/definitions", **(DAILY | changes))
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert not ReportDefinition.objects.exists()


def test_a_viewer_reads_and_changes_nothing(sign_in: SignIn, lake: Path) -> None:
    run, viewer = finished_run(lake), sign_in(Role.VIEWER)
    assert sent(viewer, "post", "/definitions", **DAILY).status_code == 403
    assert viewer.delete(f"{BASE}/runs/{run.pk}").status_code == 403
    assert viewer.get(f"{BASE}/runs/{run.pk}").json()["state"] == "done"
    period = {"since": "2026-03-13T00:00Z", "until": "2026-03-13T01:00Z"}
    answer = sent(viewer, "post", "/runs", cluster="hangzhou", **period)
    assert answer.status_code == 403
    assert not AuditEntry.objects.exists()


def test_a_report_is_started_cancelled_and_deleted(sign_in: SignIn, lake: Path) -> None:
    client = sign_in(Role.OPERATOR)
    period = {"since": "2026-03-13T00:00+08:00", "until": "2026-03-13T01:00+08:00"}
    body = {"cluster": "hangzhou", "group": "settlement", "grouping": "topic"}
    run = sent(client, "post", "/runs", **body, **period)
    assert run.status_code == 202
    pk = run.json()["id"]
    assert run.json()["grouping"] == "topic"
    assert client.delete(f"{BASE}/runs/{pk}").status_code == 422, "it is active"
    assert client.post(f"{BASE}/runs/{pk}/cancel").json()["state"] == "cancelled"
    assert client.delete(f"{BASE}/runs/{pk}").status_code == 204
    assert client.get(f"{BASE}/runs/{pk}").status_code == 404


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"since": "2026-03-13T00:00"}, 422),
        ({"since": "2026-03-14T00:00Z"}, 422),
        ({"cluster": "nowhere"}, 404),
        ({"topic": "a", "consumer": "b"}, 422),
    ],
)
def test_a_wrong_start_is_refused(
    sign_in: SignIn, changes: dict[str, str], status: int
) -> None:
    body = {
        "cluster": "hangzhou",
        "since": "2026-03-13T00:00Z",
        "until": "2026-03-13T01:00Z",
    }
    answer = sent(sign_in(Role.OPERATOR), "post", "/runs", **(body | changes))
    assert answer.status_code == status


def test_facts_figures_and_files_are_those_of_the_page(
    sign_in: SignIn, lake: Path
) -> None:
    run, client = finished_run(lake), sign_in(Role.VIEWER)
    facts = client.get(f"{BASE}/runs/{run.pk}/facts").json()
    page = facts_of(Report(run))
    assert page.peak is not None
    assert (facts["peak"], facts["peak_is_least"]) == (page.peak.value, False)
    assert (facts["whole_seconds"], facts["missing_seconds"]) == (360, 240)
    assert facts["behind_seconds"] == 180
    ranked = {row["name"]: row for row in facts["strategies"]}
    assert next(iter(ranked)) == "AVG_BY_CIRCLE"
    assert ranked["AVG_BY_CIRCLE"]["rank"] == 1
    assert ranked["BALANCED"]["rank"] is None, "it stands beside the ranking"
    assert (ranked["AVG"]["never"], ranked["in_use+1"]["never"]) == (120, None)
    assert facts["verdict"]["answer"] == "change"
    figure = client.get(f"{BASE}/runs/{run.pk}/figures/lag").json()
    assert figure["data"] == figure_of(Report(run), "lag")["data"]
    answer = client.get(f"{BASE}/runs/{run.pk}/download/csv?table=lag_by_group")
    rows = list(csv.DictReader(io.StringIO(gathered(answer).decode())))
    assert (
        max(float(row["lag_peak"]) for row in rows if row["lag_peak"])
        == page.peak.value
    )


def test_a_kept_file_is_given_as_it_was_made(sign_in: SignIn, lake: Path) -> None:
    run, client = finished_run(lake), sign_in(Role.VIEWER)
    run.formats = ["csv"]
    keep_files(run)
    answer = client.get(f"{BASE}/runs/{run.pk}/files/csv")
    assert gathered(answer).startswith(b"cluster,group,")
    (listed,) = client.get(f"{BASE}/runs/{run.pk}").json()["files"]
    assert listed["size_bytes"] == len(
        gathered(client.get(answer.request["PATH_INFO"]))
    )
    refused = client.get(f"{BASE}/runs/{run.pk}/files/pdf")
    assert (refused.status_code, "pdf" in refused.json()["detail"]) == (404, True)


def test_a_view_narrows_what_is_given(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake, consumers=("here", "there"))
    client = sign_in(Role.VIEWER)
    url = f"{BASE}/runs/{run.pk}"
    facts = client.get(f"{url}/facts?consumer=there").json()
    assert facts["peak"] == 1.0
    answer = client.get(f"{url}/download/csv?by=consumer&consumer=there")
    rows = list(csv.DictReader(io.StringIO(gathered(answer).decode())))
    assert {row["client_id"] for row in rows} == {"there"}
    topics = client.get(f"{url}/figures/queues?by=topic").json()
    assert topics["data"][0]["y"] == ["orders"]
    assert topics["data"][0]["customdata"][0][9] == 2 * 50.5 * 9
    assert client.get(f"{url}/facts?by=shard").status_code == 422
    assert client.get(f"{url}/facts?topic=a&consumer=b").status_code == 422


def test_what_is_not_there_is_named(sign_in: SignIn, lake: Path) -> None:
    run, client = finished_run(lake), sign_in(Role.VIEWER)
    for path, name in (
        (f"/runs/{run.pk}/figures/pie", "pie"),
        (f"/runs/{run.pk}/download/doc", "doc"),
        (f"/runs/{run.pk}/download/csv?table=secrets", "secrets"),
        (f"/runs/{run.pk}/download/pdf?paper=papyrus", "papyrus"),
        ("/runs/999", "999"),
        ("/definitions/999", "999"),
    ):
        answer = client.get(BASE + path)
        assert answer.status_code == 404, path
        assert name in answer.json()["detail"]
    JobRun.objects.update(state=JobRun.State.FAILED)
    answer = client.get(f"{BASE}/runs/{run.pk}/facts")
    assert (answer.status_code, "failed" in answer.json()["detail"]) == (404, True)


def test_runs_are_listed_newest_first_and_can_be_narrowed(
    sign_in: SignIn, lake: Path
) -> None:
    first, second = finished_run(lake), finished_run(lake, group="", groups=("a",))
    client = sign_in(Role.VIEWER)
    listed = client.get(f"{BASE}/runs").json()
    assert [run["id"] for run in listed] == [second.pk, first.pk]
    assert listed[1]["until"] == moment(10).isoformat().replace("+00:00", "Z")
    only = client.get(f"{BASE}/runs?group=settlement&limit=1").json()
    assert [run["id"] for run in only] == [first.pk]
    assert client.get(f"{BASE}/runs?limit=0").status_code == 422
