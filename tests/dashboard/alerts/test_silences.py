"""Silences and maintenance windows: begun, planned, ended, and by whom."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.alerts import writes
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import AuditEntry, Grant, Role, Silence, User
from dashboard.models.user import NO_ROLE
from tests.dashboard.conftest import SignIn

from .made import GROUP, made_alert, made_rule, made_silence

PAGE = "/clusters/hangzhou/alerts/silences/"
FORM = {"cluster": "hangzhou", "groups": GROUP, "span": "1h", "reason": "CHG-2310"}


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """The pages are of this cluster."""


def local(**ahead: float) -> str:
    moment = timezone.localtime(timezone.now() + timedelta(**ahead))
    return f"{moment:%Y-%m-%dT%H:%M}"


def test_a_silence_begins_now_and_ends(sign_in: SignIn) -> None:
    answer = sign_in(Role.OPERATOR).post(f"{PAGE}new/", FORM)
    assert answer["Location"] == PAGE
    row = Silence.objects.get()
    assert (row.groups, row.by_name, row.rule) == (GROUP, "operator", None)
    assert round((row.ends_at - row.starts_at) / timedelta(minutes=1)) == 60
    entry = AuditEntry.objects.get(action="silence.add")
    assert (entry.reason, entry.target) == ("CHG-2310", GROUP)
    assert "in force" in sign_in(Role.VIEWER).get(PAGE).content.decode()


def test_a_maintenance_window_is_planned(sign_in: SignIn) -> None:
    rule = made_rule()
    form = FORM | {"starts_at": local(days=3), "span": "until", "rule": rule.pk}
    form |= {"ends_at": local(days=3, hours=4)}
    assert sign_in(Role.OPERATOR).post(f"{PAGE}new/", form).status_code == 302
    row = Silence.objects.get()
    assert row.rule == rule
    assert row.ends_at - row.starts_at == timedelta(hours=4)
    assert "planned" in sign_in(Role.VIEWER).get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reason": ""}, "A reason is needed"),
        ({"span": "until"}, "needs an end"),
        ({"span": "until", "ends_at": "2020-01-01T00:00"}, "has ended already"),
        ({"span": "until", "ends_at": "soon"}, "valid date"),
        ({"groups": "g" * 256}, "at most 255"),
        ({"rule": "99"}, "not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_refused(
    sign_in: SignIn, changes: dict[str, Any], words: str
) -> None:
    answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM | changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Silence.objects.exists()


@pytest.mark.parametrize(
    ("starts", "ends", "words"),
    [({}, {"days": 31}, "30 days at most"), ({"days": 400}, {"days": 401}, "365 days")],
)
def test_it_lasts_and_waits_for_no_longer_than_the_limits(
    sign_in: SignIn, starts: dict[str, int], ends: dict[str, int], words: str
) -> None:
    times = {"ends_at": local(**ends), "span": "until"}
    times |= {"starts_at": local(**starts)} if starts else {}
    answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM | times)
    assert words in answer.content.decode()


def test_there_are_not_more_than_the_limit(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "MOST_SILENCES", 1)
    made_silence()
    answer = sign_in(Role.ADMIN).post(f"{PAGE}new/", FORM)
    assert "already 1 silences" in answer.content.decode()


def test_a_card_fills_the_form(sign_in: SignIn) -> None:
    rule = made_rule()
    alert = made_alert(rule, "order-a")
    client = sign_in(Role.OPERATOR)
    page = client.get(f"{PAGE}new/?alert={alert.pk}").content.decode()
    assert 'value="order-a"' in page
    assert f'<option value="{rule.pk}" selected>' in page
    for strange in ("x", "9" * 30, "-1"):
        assert client.get(f"{PAGE}new/?alert={strange}").status_code == 200


def test_a_silence_is_ended_early_and_stays_in_the_list(sign_in: SignIn) -> None:
    row, planned = (
        made_silence(),
        made_silence(
            starts_at=timezone.now() + timedelta(days=1),
            ends_at=timezone.now() + timedelta(days=2),
        ),
    )
    client = sign_in(Role.OPERATOR)
    for each in (row, planned, row):
        assert client.post(f"{PAGE}{each.pk}/end/").status_code == 302
    for each in (row, planned):
        each.refresh_from_db()
        assert each.starts_at <= each.ends_at <= timezone.now()
    assert AuditEntry.objects.filter(action="silence.end").count() == 2
    page = client.get(PAGE).content.decode()
    assert "End now" not in page
    assert page.count("CHG-2310") == 2


def test_operators_of_some_groups_silence_these_alone(db: None) -> None:
    user = User.objects.create(username="greta", role=NO_ROLE)
    Grant.objects.create(
        user=user, role=Role.OPERATOR, cluster="hangzhou", groups="order-*"
    )
    client = Client()
    client.force_login(user)
    assert client.post(f"{PAGE}new/", FORM).status_code == 302
    for groups in ("", "*", "order*", "pay"):
        form = FORM | {"groups": groups}
        assert client.post(f"{PAGE}new/", form).status_code == 403
    other = made_silence()
    assert client.post(f"{PAGE}{other.pk}/end/").status_code == 403
    assert client.get(PAGE).content.decode().count("End now") == 1


def test_the_silence_of_an_alert_is_on_its_card(sign_in: SignIn) -> None:
    made_alert(made_rule())
    made_silence(groups="order-*")
    page = sign_in(Role.VIEWER).get("/clusters/hangzhou/alerts/").content.decode()
    assert "silenced until" in page
