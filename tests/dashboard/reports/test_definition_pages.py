from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import gettext, override

from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import JobRun, ReportDefinition, Role
from dashboard.reports.writers.files import keep_files
from tests.dashboard.conftest import SignIn

from .finished import finished_run
from .test_pages import gathered

FIELDS: dict[str, Any] = {
    "name": "Daily lag",
    "cluster": "hangzhou",
    "group": " settlement ",
    "period": "24h",
    "grouping": "consumer",
    "formats": ["html", "pdf"],
    "paper": "letter",
    "keep_days": "7",
    "every": "week",
    "at": "06:30",
    "on_day": "5",
}


@pytest.fixture(autouse=True)
def surroundings(
    hangzhou: ClusterSettings, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page here has a cluster, a lake, and a work queue that takes all."""
    monkeypatch.setattr(app, "send_task", lambda _name, args: None)


def saved(client: Client, **changes: Any) -> Any:
    return client.post("/reports/definitions/new/", FIELDS | changes, follow=True)


def test_an_operator_saves_a_definition_in_his_language_and_zone(
    sign_in: SignIn,
) -> None:
    client = sign_in(Role.OPERATOR)
    client.cookies["rocketscope_zone"] = "Asia/Shanghai"
    client.cookies["rocketscope_language"] = "zh-hans"
    assert "Daily lag" in saved(client).content.decode()
    made = ReportDefinition.objects.get()
    assert (made.group, made.grouping, made.formats) == (
        "settlement",
        "consumer",
        ["html", "pdf"],
    )
    assert (made.every, made.at_minute, made.on_day, made.keep_days) == (
        "week",
        390,
        5,
        7,
    )
    assert (made.language, made.zone, made.paper) == (
        "zh-hans",
        "Asia/Shanghai",
        "letter",
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": " "}, "needs a name"),
        ({"at": "noon"}, "noon"),
        ({"at": "x:30"}, "x"),
        ({"at": "12:75"}, "“12:75” is not a time of day"),
        ({"at": "24:00"}, "“24:00” is not a time of day"),
        ({"on_day": ""}, "This field is required"),
        ({"virtual_nodes": "9" * 5000}, "is not a whole number"),
        ({"name": "n" * 121}, "at most 120 characters (it has 121)"),
        ({"on_day": "friday"}, "friday"),
        ({"keep_days": "0"}, "0 is not between"),
        ({"period": "century"}, "century"),
    ],
)
def test_a_wrong_field_is_said_and_the_others_are_kept(
    sign_in: SignIn, changes: dict[str, str], message: str
) -> None:
    answer = saved(sign_in(Role.OPERATOR), **changes)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert message in text
    assert 'value="html" checked' in text
    assert not ReportDefinition.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "Weekly", "There is already a report named “Weekly”."),
        ("period", "century", "There is no period “century”"),
        ("at", "25:00", "“25:00” is not a time of day such as 08:05."),
        ("on_day", "8", "Day: 8 is not between 1 and 7."),
        ("keep_days", "3651", "Days kept: 3651 is not between 1 and 3650."),
        ("added_members", "+101", "Members more or fewer: 101 is not between"),
        ("virtual_nodes", "1001", "Virtual nodes: 1001 is not between 1 and 1000."),
        ("paper", "a0", "There is no paper “a0”; there are a4, letter."),
    ],
)
def test_an_error_stands_beside_its_field(
    sign_in: SignIn, field: str, value: str, message: str
) -> None:
    client = sign_in(Role.OPERATOR)
    saved(client, name="Weekly")
    saved(client)
    made = ReportDefinition.objects.get(name="Daily lag")
    answer = client.post(f"/reports/definitions/{made.pk}/", FIELDS | {field: value})
    text = answer.content.decode()
    assert answer.status_code == 422
    labels = re.findall("(?s)<label.*?</label>", text)
    (label,) = (each for each in labels if message in each)
    assert f'name="{field}"' in label
    assert 'aria-invalid="true"' in label
    assert text.count("field-error") == 1
    assert "<h1>Daily lag</h1>" in text, "the name that is kept"


def test_errors_are_in_the_reader_s_language(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    client.cookies["rocketscope_language"] = "zh-hans"
    answer = saved(client, on_day="8", rooms="hz1，hz2", added_members="+1")
    text = answer.content.decode()
    with override("zh-hans"):
        day = gettext("Day")
        message = gettext("%(what)s: %(value)s is not between %(least)s and %(most)s.")
    assert message % {"what": day, "value": 8, "least": 1, "most": 7} in text
    assert 'value="hz1，hz2"' in text, "as it was typed"


def test_a_change_keeps_options_that_the_form_does_not_show(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    saved(client, rooms="hz1")
    made = ReportDefinition.objects.get()
    made.options["CONFIG"] = {"config": {"a@1": [["orders", "broker-a", 0]]}}
    made.save()
    url = f"/reports/definitions/{made.pk}/"
    assert 'value="hz1"' in client.get(url).content.decode()
    client.post(url, FIELDS | {"virtual_nodes": "40"})
    kept = made.options["CONFIG"]
    made.refresh_from_db()
    assert made.options == {"CONFIG": kept, "CONSISTENT_HASH": {"virtual_nodes": 40}}


def test_the_form_of_a_definition_holds_what_it_is(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    saved(client)
    made = ReportDefinition.objects.get()
    text = client.get(f"/reports/definitions/{made.pk}/").content.decode()
    assert 'value="06:30"' in text
    assert '<option value="week" selected>' in text
    assert 'value="pdf" checked' in text
    answer = client.post(f"/reports/definitions/{made.pk}/", FIELDS | {"every": ""})
    assert answer.status_code == 302
    made.refresh_from_db()
    assert made.next_at is None


def test_a_past_report_fills_the_form(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake)
    text = (
        sign_in(Role.OPERATOR)
        .get(f"/reports/definitions/new/?from={run.pk}")
        .content.decode()
    )
    assert 'value="settlement"' in text


def test_run_now_and_delete(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    saved(client)
    made = ReportDefinition.objects.get()
    answer = client.post(f"/reports/definitions/{made.pk}/run/")
    run = JobRun.objects.get()
    assert answer["Location"] == f"/reports/{run.pk}/"
    assert run.keep_until == run.asked_at + timedelta(days=7)
    text = client.post(f"/reports/definitions/{made.pk}/run/", follow=True).content
    assert "is already being made" in text.decode()
    client.post(f"/reports/definitions/{made.pk}/delete/")
    assert not ReportDefinition.objects.exists()
    assert JobRun.objects.count() == 1


def test_viewers_see_definitions_and_change_none(sign_in: SignIn) -> None:
    saved(sign_in(Role.OPERATOR))
    made, viewer = ReportDefinition.objects.get(), sign_in(Role.VIEWER)
    text = viewer.get("/reports/").content.decode()
    assert "Daily lag" in text
    assert "Run now" not in text
    assert "New report" not in text
    for path in ("new/", f"{made.pk}/", f"{made.pk}/run/", f"{made.pk}/delete/"):
        answer = viewer.post(f"/reports/definitions/{path}", FIELDS)
        assert answer.status_code == 403, path


def test_kept_files_are_listed_with_size_and_streamed(
    sign_in: SignIn, lake: Path
) -> None:
    run = finished_run(lake)
    run.formats = ["csv", "html"]
    run.save()
    keep_files(run)
    client = sign_in(Role.VIEWER)
    text = client.get(f"/reports/{run.pk}/").content.decode()
    assert "Files of this report" in text
    assert f'href="/reports/{run.pk}/files/html"' in text
    answer = client.get(f"/reports/{run.pk}/files/csv")
    assert gathered(answer).startswith(b"cluster,group,")
    assert "lag-settlement" in answer["Content-Disposition"]
    assert client.get(f"/reports/{run.pk}/files/pdf").status_code == 404
    listed = client.get("/reports/").content.decode()
    assert "1.5\xa0MB" in listed, "the numbers and the files"


def test_a_late_run_says_when_it_was_due(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake)
    run.due_at, run.missed = run.asked_at - timedelta(hours=5), 3
    run.save()
    client = sign_in(Role.VIEWER)
    for path in ("/reports/", f"/reports/{run.pk}/"):
        text = client.get(path).content.decode()
        assert "made up for" in text, path
        assert "3 earlier times left out" in text


def test_deleting_a_report_takes_an_operator(sign_in: SignIn, lake: Path) -> None:
    run = finished_run(lake)
    assert sign_in(Role.VIEWER).post(f"/reports/{run.pk}/delete/").status_code == 403
    answer = sign_in(Role.OPERATOR).post(f"/reports/{run.pk}/delete/", follow=True)
    assert "The report is deleted." in answer.content.decode()
    assert not JobRun.objects.exists()
    active = finished_run(lake)
    JobRun.objects.update(state=JobRun.State.QUEUED)
    answer = sign_in(Role.OPERATOR).post(f"/reports/{active.pk}/delete/", follow=True)
    assert "Cancel the report first" in answer.content.decode()
