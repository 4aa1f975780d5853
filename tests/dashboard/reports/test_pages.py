from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponseBase, StreamingHttpResponse
from django.test import Client
from django.utils import timezone
from kombu.exceptions import OperationalError

from analytics import contracts as c
from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import JobRun, Role
from dashboard.reports.writes import WARM_TASK
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview

from .finished import SINCE, finished_run, moment, two_epochs

State = JobRun.State


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings, lake: Path) -> None:
    """Every page here has a cluster and a lake."""


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    gone: list[int] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args: gone.extend(args))
    return gone


def queued(**changes: object) -> JobRun:
    values = {
        "job": "report",
        "cluster": "hangzhou",
        "group": "settlement",
        "since": SINCE,
        "until": moment(10),
        "asked_at": timezone.now(),
        "asked_by_name": "olga",
    }
    return JobRun.objects.create(**(values | changes))


def gathered(response: HttpResponseBase) -> bytes:
    """Take the pieces as an ASGI server does."""
    assert isinstance(response, StreamingHttpResponse)
    assert response.is_async

    async def take() -> bytes:
        return b"".join([piece async for piece in response])  # type: ignore[union-attr]

    return async_to_sync(take)()


def test_the_list_shows_runs_and_the_form_to_those_who_may(
    sign_in: SignIn, lake: Path
) -> None:
    assert (
        "No report has been made yet."
        in sign_in(Role.VIEWER).get("/reports/").content.decode()
    )
    finished_run(lake)
    queued(group="", state=State.FAILED, error="disk full")
    viewer = sign_in(Role.VIEWER).get("/reports/").content.decode()
    operator = sign_in(Role.OPERATOR).get("/reports/").content.decode()
    assert "settlement" in viewer
    assert "disk full" in viewer
    assert "Make report" not in viewer
    assert "Make report" in operator


def test_an_operator_starts_a_report(
    sign_in: SignIn, sent: list[int], django_capture_on_commit_callbacks: object
) -> None:
    fields = {"cluster": "hangzhou", "group": " settlement ", "period": "15m"}
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        answer = sign_in(Role.OPERATOR).post("/reports/start/", fields)
    run = JobRun.objects.get()
    assert answer["Location"] == f"/reports/{run.pk}/"
    assert (run.group, run.state) == ("settlement", State.QUEUED)
    assert (run.until - run.since).total_seconds() == 15 * 60
    assert sent == [run.pk]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"cluster": "hangzhou", "period": "century"}, "century"),
        (
            {
                "cluster": "hangzhou",
                "period": "custom",
                "since": "x",
                "until": "y",
            },
            "not a date and time",
        ),
    ],
)
def test_a_wrong_period_is_said_on_the_list(
    sign_in: SignIn, fields: dict[str, str], message: str
) -> None:
    answer = sign_in(Role.OPERATOR).post("/reports/start/", fields, follow=True)
    assert message in answer.content.decode()
    assert not JobRun.objects.exists()


def test_the_span_stands_ready_and_names_are_suggested(
    sign_in: SignIn, write: Write
) -> None:
    write(overview())
    page = sign_in(Role.OPERATOR).get("/reports/").content.decode()
    since, until = (
        datetime.fromisoformat(found)
        for found in re.findall(r'name="(?:since|until)" value="([^"]+)"', page)
    )
    assert until - since == timedelta(hours=1)
    assert '<option value="order-settlement">' in page
    assert '<option value="products">' in page
    page = sign_in(Role.OPERATOR).get("/reports/definitions/new/").content.decode()
    assert '<option value="order-settlement">' in page


def test_deleting_asks_first(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake)
    for page in ("/reports/", f"/reports/{run.pk}/"):
        shown = sign_in(Role.OPERATOR).get(page).content.decode()
        asked = shown.partition('<details class="ask">')[2].partition("</details>")[0]
        assert f'action="/reports/{run.pk}/delete/"' in asked
        assert "Its numbers and files are lost." in asked
        assert "Delete for good" in asked
        assert shown.count(f"/reports/{run.pk}/delete/") == 1


def test_what_was_typed_is_kept_beside_the_error(
    sign_in: SignIn, sent: list[int]
) -> None:
    queued()
    typed = {
        "cluster": "hangzhou",
        "group": "settlement",
        "name": "Peak",
        "period": "6h",
        "grouping": "topic",
        "formats": ["pdf"],
        "rooms": "hz1, hz2",
    }
    client = sign_in(Role.OPERATOR)
    answer = client.post("/reports/start/", typed)
    text = answer.content.decode()
    assert answer.status_code == 422
    labels = re.findall("(?s)<label.*?</label>", text)
    (label,) = (each for each in labels if "field-error" in each)
    assert "A report of “settlement” is already being made." in label
    assert 'name="group" value="settlement"' in label
    for part in (
        *('value="Peak"', 'value="hz1, hz2"', 'value="pdf" checked'),
        *('<option value="6h" selected>', '<option value="topic" selected>'),
    ):
        assert part in text, part
    assert 'data-runs="/reports/?page=1"' in text, "runs are followed without reload"
    assert "data-run=" in client.get("/reports/").content.decode()


def test_an_unknown_cluster_is_not_found(sign_in: SignIn) -> None:
    answer = sign_in(Role.OPERATOR).post("/reports/start/", {"cluster": "nowhere"})
    assert answer.status_code == 404


def test_viewers_neither_start_nor_cancel(sign_in: SignIn) -> None:
    run = queued()
    viewer = sign_in(Role.VIEWER)
    assert viewer.post("/reports/start/", {"cluster": "hangzhou"}).status_code == 403
    assert viewer.post(f"/reports/{run.pk}/cancel/").status_code == 403
    assert "Cancel" not in viewer.get(f"/reports/{run.pk}/").content.decode()


def test_strangers_are_sent_to_sign_in(lake: Path) -> None:
    run = finished_run(lake)
    for tail in (
        *("", "status/", "figures/lag/", "figures/lag/table/", "files/pdf"),
        *("report.csv", "report.xlsx", "report.pdf", "report.html"),
    ):
        answer = Client().get(f"/reports/{run.pk}/{tail}")
        assert answer.status_code == 302, tail
        assert answer["Location"].startswith("/sign-in/")


def test_a_finished_report_shows_its_facts(sign_in: SignIn, lake: Path) -> None:
    two_epochs()
    run = finished_run(lake)
    text = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert "1,350" in text
    assert "1 m 30 s" in text
    assert "Nothing was collected for 4 m 00 s, in 2 spans." in text
    assert "1.50×" in text
    assert "AVG_BY_CIRCLE" in text
    assert "Balanced plan" in text
    assert "assumed" in text
    for figure in ("lag", "queues", "skew", "strategies", "members"):
        assert f'data-figure="/reports/{run.pk}/figures/{figure}/"' in text


def test_a_report_of_all_groups_lists_the_worst(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake, group="", groups=("alpha", "beta"))
    text = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert text.index("beta") < text.index("alpha")
    assert "figures/skew" not in text


def test_a_running_report_shows_how_far_it_is(sign_in: SignIn) -> None:
    run = queued(
        state=State.RUNNING, part=0.42, phase="samples", seen_at=timezone.now()
    )
    client = sign_in(Role.OPERATOR)
    text = client.get(f"/reports/{run.pk}/").content.decode()
    assert "reading samples" in text
    assert "Cancel" in text
    status = client.get(f"/reports/{run.pk}/status/")
    assert status["Cache-Control"] == "no-store"
    assert status.json() == {
        "state": "running",
        "word": "running",
        "active": True,
        "percent": 42,
        "phase": "reading samples",
    }
    client.post(f"/reports/{run.pk}/cancel/")
    assert client.get(f"/reports/{run.pk}/status/").json()["phase"] == "stopping"


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (State.QUEUED, "waiting for the analytics worker"),
        (State.FAILED, "disk full"),
        (State.CANCELLED, "This report was cancelled."),
    ],
)
def test_other_states_are_said(sign_in: SignIn, state: str, message: str) -> None:
    run = queued(state=state, error="disk full")
    text = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    assert message in text


def test_figures_are_plotly_documents(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake)
    client = sign_in(Role.VIEWER)
    for name in ("lag", "queues", "skew", "strategies", "members"):
        figure = client.get(f"/reports/{run.pk}/figures/{name}/").json()
        assert figure["data"], name
    assert client.get(f"/reports/{run.pk}/figures/pie/").status_code == 404
    waiting = queued(group="other")
    assert client.get(f"/reports/{waiting.pk}/figures/lag/").status_code == 404


def test_downloads_are_streamed_with_a_name(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake, group="zá/../é", groups=("a",))
    client = sign_in(Role.VIEWER)
    csv = client.get(f"/reports/{run.pk}/report.csv")
    assert csv["Content-Disposition"] == (
        f'attachment; filename="lag-zae-{run.pk}-lag_by_queue.csv"'
    )
    assert gathered(csv).startswith(b"cluster,group,")
    xlsx = client.get(f"/reports/{run.pk}/report.xlsx")
    assert xlsx["Content-Type"].startswith("application/vnd.openxmlformats")
    assert gathered(xlsx)[:2] == b"PK"


def test_downloads_of_what_is_not_there(sign_in: SignIn, lake: Path) -> None:
    run, waiting = finished_run(lake), queued(group="other")
    client = sign_in(Role.VIEWER)
    for path in (
        f"{run.pk}/report.csv?table=secrets",
        f"{run.pk}/report.csv?table={c.LOAD_BY_MEMBER}",
        f"{run.pk}/report.exe",
        f"{run.pk}/report.pdf?paper=papyrus",
        f"{waiting.pk}/report.csv",
        f"{waiting.pk}/report.xlsx",
        "999/report.xlsx",
    ):
        assert client.get(f"/reports/{path}").status_code == 404, path


def test_spark_is_started_ahead_by_those_who_may_ask_for_reports(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(app, "send_task", lambda name, **_more: asked.append(name))
    assert sign_in(Role.VIEWER).post("/reports/warm/").status_code == 403
    assert asked == []
    assert sign_in(Role.OPERATOR).post("/reports/warm/").status_code == 204
    assert asked == [WARM_TASK]


def test_starting_ahead_says_nothing_of_a_queue_that_is_away(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str, **_more: object) -> None:
        raise OperationalError

    monkeypatch.setattr(app, "send_task", refuse)
    assert sign_in(Role.OPERATOR).post("/reports/warm/").status_code == 204
