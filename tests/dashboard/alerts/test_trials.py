"""Trials of rules: asked for, kept, read over REST and on their page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from analytics import contracts as c
from dashboard.alerts.trial_chart import trial_chart
from dashboard.alerts.trial_words import headline, notes, unknown_note
from dashboard.alerts.trials import (
    LONGEST,
    MOST_ACTIVE_A_USER,
    TrialWish,
    read_trial,
    start_trial,
)
from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    AuditEntry,
    Grant,
    JobRun,
    Ownership,
    Role,
    Team,
    User,
)
from dashboard.models.user import NO_ROLE
from dashboard.reports.request.refusals import (
    ReportRefusedError,
    TooManyReportsError,
)
from dashboard.reports.retention import expire_reports
from dashboard.reports.runner import request_of
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import now_ms, overview

from .tried import SINCE, UNTIL, at, finished_trial, opening, summary

PAGE = "/clusters/hangzhou/alerts/trial/"
REST = "/api/v1/clusters/hangzhou/alert-trials"
FORM = {
    "kind": "lag",
    "groups": "pay*",
    "limit": "40,000",
    "hold": "30 min",
    "span": "7d",
}
WISH: dict[str, Any] = {
    "cluster": "hangzhou",
    "since": SINCE,
    "until": UNTIL,
    "kind": "lag",
    "limit": 40_000.0,
    "pattern": "pay*",
}


@pytest.fixture(autouse=True)
def surroundings(
    hangzhou: ClusterSettings,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    monkeypatch.setattr(app, "send_task", lambda _name, args: None)


@pytest.fixture
def viewer(db: None) -> User:
    return User.objects.create(username="vera", role=Role.VIEWER)


def post(client: Client, **body: Any) -> Any:
    given = {
        "since": SINCE.isoformat(),
        "until": UNTIL.isoformat(),
        "kind": "lag",
        "limit": 40_000,
        "pattern": "pay*",
    }
    return client.post(REST, given | body, content_type="application/json")


def test_a_trial_is_a_run_of_its_own_job(viewer: User) -> None:
    run = start_trial(viewer, TrialWish(**WISH, hold_ms=60_000))
    assert (run.job, run.state, run.cluster) == (c.JOB_TRIAL, "queued", "hangzhou")
    request = request_of(run)
    assert (request.group_pattern, request.groups) == ("pay*", ())
    assert request.rule["hold_ms"] == 60_000
    assert request.clusters == ("hangzhou",)
    assert AuditEntry.objects.get(action="trial.start").details["run"] == run.pk


def test_names_can_be_given_in_place_of_a_pattern(viewer: User) -> None:
    names = ["pay[1]", "refunds"]
    run = start_trial(viewer, TrialWish(**WISH | {"pattern": "", "groups": names}))
    assert request_of(run).groups == tuple(names)
    assert read_trial(run).subject == "pay[1], refunds"


def test_trials_do_not_stand_in_the_way_of_each_other_or_of_reports(
    viewer: User,
) -> None:
    for _ in range(MOST_ACTIVE_A_USER):
        start_trial(viewer, TrialWish(**WISH))
    JobRun.objects.create(
        job="report",
        cluster="hangzhou",
        group="pay*",
        since=SINCE,
        until=UNTIL,
        asked_at=UNTIL,
    )
    with pytest.raises(TooManyReportsError, match="3 of your trials"):
        start_trial(viewer, TrialWish(**WISH))
    assert JobRun.objects.reports().count() == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"kind": "finding"}, "kind"),
        ({"kind": "dead_letters"}, "kind"),
        ({"kind": "broker"}, "kind"),
        ({"kind": "weather"}, "limit"),
        ({"clear_limit": 50_000.0}, "clear_limit"),
        ({"since": UNTIL, "until": SINCE}, "until"),
        ({"since": UNTIL - LONGEST - timedelta(seconds=1)}, "since"),
        ({"pattern": ""}, "pattern"),
        ({"groups": ["a"]}, "pattern"),
        ({"pattern": "p" * 256}, "pattern"),
        ({"pattern": "", "groups": ["g" * 256]}, "pattern"),
        ({"limit": float("inf")}, "limit"),
    ],
)
def test_what_makes_no_sense_is_refused(
    viewer: User, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ReportRefusedError) as refusal:
        start_trial(viewer, TrialWish(**WISH | changes))
    assert refusal.value.field == field
    assert not JobRun.objects.exists()


def test_whoever_may_not_look_at_a_cluster_tries_nothing_there(db: None) -> None:
    from django.core.exceptions import PermissionDenied

    grown = User.objects.create(username="greta", role=NO_ROLE)
    Grant.objects.create(user=grown, role=Role.VIEWER, cluster="shanghai")
    with pytest.raises(PermissionDenied):
        start_trial(grown, TrialWish(**WISH))
    client = Client()
    client.force_login(grown)
    finished_trial(pk=7)
    assert post(client).status_code == 403
    assert client.get(f"{REST}/7").status_code == 403
    assert client.get(f"{PAGE}7/").status_code == 403
    Grant.objects.create(
        user=grown, role=Role.VIEWER, cluster="hangzhou", groups="pay*"
    )
    client.force_login(User.objects.get(pk=grown.pk))
    assert post(client).status_code == 202
    assert client.get(f"{REST}/7").status_code == 200


def test_a_trial_goes_when_its_days_are_over(viewer: User, tmp_path: Path) -> None:
    run = start_trial(viewer, TrialWish(**WISH))
    JobRun.objects.update(state=JobRun.State.DONE)
    folder = tmp_path / "results" / run.folder
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text("{}")
    assert run.keep_until is not None
    assert expire_reports(run.keep_until) == 0
    assert expire_reports(run.keep_until + timedelta(seconds=1)) == 1
    assert not folder.exists()
    assert not JobRun.objects.exists()


def test_trials_are_no_reports(sign_in: SignIn) -> None:
    finished_trial(pk=7)
    client = sign_in(Role.ADMIN)
    assert client.get("/reports/7/").status_code == 404
    assert client.get("/api/v1/reports/runs/7").status_code == 404
    assert client.get("/api/v1/reports/runs").json() == []
    assert b"payments-settle" not in client.get("/reports/").content


def test_rest_queues_a_trial_and_tells_how_it_stands(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    answer = post(client, clear_limit=30_000, hold_ms=60_000)
    assert answer.status_code == 202
    told = client.get(f"{REST}/{answer.json()['id']}").json()
    assert (told["state"], told["result"], told["percent"]) == ("queued", None, 0)
    assert told["rule"]["clear_limit"] == 30_000
    assert told["pattern"] == "pay*"


def test_rest_tells_what_a_trial_found(sign_in: SignIn) -> None:
    finished_trial(pk=7)
    found = sign_in(Role.VIEWER).get(f"{REST}/7").json()["result"]
    assert found["fired"] == 3
    assert found["openings"][0] == opening(44, 5.5)
    assert found["others"] == summary()["others"]
    assert found["series"]["marks"].count("?") == 15


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"kind": "finding"}, "cannot be tried on the past"),
        ({"kind": "weather"}, "unknown kind of rule"),
        ({"since": "2025-01-01T00:00:00Z"}, "90 days"),
        ({"pattern": "x" * 256}, "255"),
        ({"groups": ["g"] * 101, "pattern": ""}, "100"),
        ({"since": "2026-03-01"}, "since"),
        ({"hold_ms": -1}, "hold_ms"),
        ({"pattern": ""}, "list of names"),
    ],
)
def test_rest_names_what_it_refuses(
    sign_in: SignIn, body: dict[str, Any], word: str
) -> None:
    answer = post(sign_in(Role.VIEWER), **body)
    assert answer.status_code == 422
    assert word in answer.content.decode()


def test_rest_does_not_know_the_trial_of_another_cluster(sign_in: SignIn) -> None:
    JobRun.objects.filter(pk=finished_trial(pk=7).pk).update(cluster="shanghai")
    assert sign_in(Role.VIEWER).get(f"{REST}/7").status_code == 404


def test_the_form_starts_a_trial_and_shows_it(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    assert client.get(PAGE).status_code == 200
    answer = client.post(f"{PAGE}start/", FORM)
    run = JobRun.objects.get()
    assert answer.url == f"{PAGE}{run.pk}/"
    assert run.options["rule"]["hold_ms"] == 1_800_000
    assert run.until - run.since == timedelta(days=7)
    waiting = client.get(answer.url).content.decode()
    assert "data-trial-active" in waiting
    assert "waiting for the analytics worker" in waiting


def test_the_form_of_a_rule_can_be_sent_to_be_tried(sign_in: SignIn) -> None:
    client = sign_in(Role.ADMIN)
    page = client.get("/clusters/hangzhou/alerts/rules/new/").content.decode()
    assert f'formaction="{PAGE}start/"' in page
    rule = {"name": "", "severity": "crit", "on": "on", "cluster": "hangzhou"}
    span = {"kind": "oldest", "limit": "5 min", "clear_limit": "4 min", "groups": ""}
    client.post(f"{PAGE}start/", {**rule, **span, "hold": "", "clear": "30 s"})
    options = JobRun.objects.get().options
    assert options["pattern"] == "*"
    assert options["rule"] == {
        "kind": "oldest",
        "limit": 300_000.0,
        "clear_limit": 240_000.0,
        "hold_ms": 0,
        "clear_ms": 30_000,
    }


def test_a_rule_about_a_team_is_tried_on_the_groups_that_it_owns(
    sign_in: SignIn, write: Write
) -> None:
    document = overview(now_ms())
    write(document)
    names = sorted(row["group"] for row in document["groups"])
    team = Team.objects.create(name="Money")
    for name in names[:2]:
        Ownership.objects.create(team=team, groups=name)
    sign_in(Role.VIEWER).post(f"{PAGE}start/", {**FORM, "groups": "", "team": "Money"})
    options = JobRun.objects.get().options
    assert (options["groups"], options["pattern"]) == (names[:2], "")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"hold": "30"}, "is not a span of time"),
        ({"limit": "-1"}, "is not a number"),
        ({"kind": "finding"}, "cannot be tried on the past"),
        ({"kind": "weather"}, "not one of the available choices"),
        ({"team": "Nobody"}, "owns 0 groups that match now"),
        ({"clear_limit": "50000"}, "must be at most 40000"),
        ({"span": "90y"}, "not one of the available choices"),
    ],
)
def test_the_form_shows_what_is_refused(
    sign_in: SignIn, changes: dict[str, str], word: str
) -> None:
    answer = sign_in(Role.VIEWER).post(f"{PAGE}start/", FORM | changes)
    assert answer.status_code == 422
    assert word in answer.content.decode()
    assert not JobRun.objects.exists()


def test_the_page_of_a_trial_says_what_would_have_been(sign_in: SignIn) -> None:
    finished_trial(pk=7)
    client = sign_in(Role.VIEWER)
    page = client.get(f"{PAGE}7/").content.decode()
    assert "It would have fired 3 times in the last 7 days." in page
    assert "15 h 00 m open in all" in page
    assert "not measured for 5 h 00 m: it might have fired there." in page
    assert "At 27,000 it would be 4, at 60,000 it would be 2." in page
    assert page.count('class="opening"') == 3
    part = client.get(f"{PAGE}7/", headers={"X-Fragment": "1"}).content.decode()
    assert "<html" not in part
    assert 'class="trial-openings"' in part


@pytest.mark.parametrize(
    ("state", "word"),
    [("failed", "the lake has nothing of groups"), ("cancelled", "was cancelled")],
)
def test_the_page_says_how_a_trial_ended_otherwise(
    sign_in: SignIn, state: str, word: str
) -> None:
    run = finished_trial(pk=7)
    error = "the lake has nothing of groups named 'x'" if state == "failed" else ""
    JobRun.objects.filter(pk=run.pk).update(state=state, error=error, summary={})
    assert word in sign_in(Role.VIEWER).get(f"{PAGE}7/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fired": 0}, "It would not have fired in the last 7 days."),
        ({"fired": 1}, "It would have fired 1 time in the last 7 days."),
        (
            {"fired": 5, "group_count": 9, "fired_groups": 2},
            "It would have fired 5 times in the last 7 days, in 2 of 9 groups.",
        ),
    ],
)
def test_the_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert headline(read_trial(finished_trial(**changes))) == sentence


@pytest.mark.django_db
def test_the_sentence_of_other_times() -> None:
    run = finished_trial()
    run.since = run.until - timedelta(hours=24)
    assert headline(read_trial(run)).endswith("in the last 24 hours.")
    run.asked_at += timedelta(days=1)
    words = "from 2026-03-12 12:00 to 2026-03-13 12:00."
    assert headline(read_trial(run)).endswith(words)


@pytest.mark.django_db
def test_the_sentence_in_chinese() -> None:
    with translation.override("zh-hans"):
        assert (
            headline(read_trial(finished_trial())) == "在最近 7 天内，它会触发 3 次。"
        )


@pytest.mark.django_db
def test_what_is_not_exact_is_said() -> None:
    trial = read_trial(
        finished_trial(since=(SINCE + timedelta(days=2)).isoformat(), unknown_ms=0)
    )
    assert unknown_note(trial) == ""
    text = " ".join(notes(trial))
    assert "The lake has nothing of the time before 2026-03-08 12:00." in text
    assert "Read from roll-ups of 1 min, in steps of 1 min" in text


@pytest.mark.django_db
def test_what_never_drains_is_drawn_to_the_top() -> None:
    openings = [opening(1, None, peak=None, endless=True)]
    series = {
        "group": "payments-settle",
        "since_ms": at(0),
        "bucket_ms": 3_600_000,
        "values": [10_000.0, None, None, 30_000.0],
        "marks": ".^?.",
    }
    drain = {"kind": "drain", "limit": 60_000.0}
    run = finished_trial(rule=drain, openings=openings, series=series)
    chart = str(trial_chart(read_trial(run)))
    assert chart.count('class="line"') == 2, "interrupted where nothing is known"
    assert "L1.5,24.0" in chart
    assert "drained later than in 1 m 00 s" in chart


@pytest.mark.django_db
def test_a_chart_escapes_names() -> None:
    run = finished_trial(series=summary()["series"] | {"group": "<b>"})
    assert "<b>" not in str(trial_chart(read_trial(run)))
