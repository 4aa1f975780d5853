"""The pages of alerts: what is open, how rules stand, the history, one alert."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Alert, AuditEntry, Grant, Role, User
from dashboard.models.user import NO_ROLE
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.test_pages import gathered
from tests.support.valkey import Valkey

from .made import (
    GROUP,
    SECRET,
    explained,
    made_alert,
    made_channel,
    made_message,
    made_rule,
    made_silence,
    standing,
    write_alerting,
)

PAGE = "/clusters/hangzhou/alerts/"


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """The pages are of this cluster."""


def text_of(client: Client, path: str = PAGE, **headers: str) -> str:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_without_rules_it_says_that_nobody_is_told(sign_in: SignIn) -> None:
    shown = text_of(sign_in(Role.VIEWER))
    assert "No alert is open." in shown
    assert "nobody is told when something goes wrong" in shown
    assert "alerts/rules/new/" not in shown
    assert "alerts/rules/new/" in text_of(sign_in(Role.OPERATOR))


def test_an_open_alert_says_what_where_and_why(sign_in: SignIn) -> None:
    channel = made_channel()
    alert = made_alert(made_rule(channel), facts=explained())
    made_message(alert, channel)
    made_message(
        alert, made_channel("mail"), state="given_up", error="421 busy", what="more"
    )
    shown = text_of(sign_in(Role.OPERATOR))
    assert "29,988 messages wait for order-settlement" in shown
    assert "orders broker-b/4" in shown
    assert "10.2.31.24@8841#1" in shown
    assert "over 10,000 messages for 1 min" in shown
    assert "when it is at most 10,000, for 30 s" in shown
    assert "sent to ding: on-call, accepted" in shown
    assert "not sent to mail: 421 busy" in shown
    assert f'href="/clusters/hangzhou/groups/{GROUP}/"' in shown
    assert "I am on it" in shown
    assert SECRET not in shown


def test_what_viewers_may_not_do_is_not_offered(sign_in: SignIn) -> None:
    made_alert(made_rule())
    shown = text_of(sign_in(Role.VIEWER))
    assert "I am on it" not in shown
    assert "Silence…" not in shown
    assert "toggle" not in shown


def test_rules_are_listed_by_how_they_stand(valkey: Valkey, sign_in: SignIn) -> None:
    firing = made_rule(name="fires")
    made_alert(firing)
    unknown = made_rule(name="does not know")
    quiet = made_rule(name="is quiet")
    silenced = made_rule(name="is silenced")
    made_rule(name="is off", on=False)
    made_silence(rule=silenced)
    lost = {"unknown": 2, "unknown_since": 0, "unknown_names": ["refunds", "x"]}
    states = {firing.pk: standing(firing=1), unknown.pk: standing(**lost)}
    states |= {quiet.pk: standing(pending=3), silenced.pk: standing()}
    write_alerting(valkey.port, states)
    shown = text_of(sign_in(Role.VIEWER))
    names = ["fires", "does not know", "is quiet", "is silenced", "is off"]
    rules = shown[shown.index("rules-title") :]
    places = [rules.index(f">{name}<") for name in names]
    assert places == sorted(places)
    assert "for 2 of 214: refunds, …" in shown
    assert "holds for 3, not long enough yet" in shown
    assert "CHG-2310" in shown


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("", {"Lag of payments", "lag of refunds", "off"}),
        ("q=LAG+OF", {"Lag of payments", "lag of refunds"}),
        ("q=pay-%2A", {"lag of refunds"}),
        ("q=the+night", {"off"}),
        ("state=off", {"off"}),
        ("state=firing", {"Lag of payments"}),
        ("severity=crit", {"Lag of payments"}),
        ("severity=crit&state=off", set()),
        ("state=none&severity=none", {"Lag of payments", "lag of refunds", "off"}),
    ],
)
def test_the_rules_are_filtered(sign_in: SignIn, query: str, kept: set[str]) -> None:
    made_alert(made_rule(name="Lag of payments", severity="crit"))
    made_rule(name="lag of refunds", severity="warn", groups="pay-*")
    off = made_rule(name="off", severity="warn", on=False)
    off.channels.add(made_channel(name="of the night"))
    viewer = sign_in(Role.VIEWER)
    for headers in ({}, {"X-Fragment": "1"}):
        shown = text_of(viewer, f"{PAGE}?{query}", **headers)
        rules = shown[shown.index("rules-title") :]
        names = {"Lag of payments", "lag of refunds", "off"}
        found = {each for each in names if f'<span class="strong">{each}<' in rules}
        assert found == kept
        assert ("No rule matches." in rules) == (not kept)


def test_a_fault_and_an_old_look_are_said(valkey: Valkey, sign_in: SignIn) -> None:
    write_alerting(valkey.port, {}, fault="rules about 'x': boom", taken_at=1_000)
    shown = text_of(sign_in(Role.VIEWER))
    assert "boom" in shown
    assert "The rules were last judged at" in shown
    write_alerting(valkey.port, {})
    assert "The rules were last judged at" not in text_of(sign_in(Role.VIEWER))


def test_the_fragment_has_no_frame(sign_in: SignIn) -> None:
    made_alert(made_rule())
    shown = text_of(sign_in(Role.VIEWER), **{"X-Fragment": "1"})
    assert "<html" not in shown
    assert "data-meta" in shown


def test_the_number_of_open_alerts_is_in_the_navigation(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    assert "badge-crit" not in text_of(client, "/settings/")
    rule = made_rule()
    made_alert(rule)
    made_alert(rule, "b", minutes=9)
    made_alert(rule, "c", minutes=99, closed_at=timezone.now())
    with CaptureQueriesContext(
        connection,
    ) as queries:
        shown = text_of(client, "/settings/")
    assert shown.count('badge-crit">2') == 2  # wide, and on phones
    assert sum("dashboard_alert" in each["sql"] for each in queries) == 1


def test_many_alerts_cost_no_more_queries(sign_in: SignIn) -> None:
    client, rule = sign_in(Role.OPERATOR), made_rule(made_channel())
    made_alert(rule)
    text_of(client)
    with CaptureQueriesContext(connection) as few:
        text_of(client)
    for number in range(40):
        made_alert(rule, f"group-{number}", minutes=number)
    with CaptureQueriesContext(connection) as many:
        shown = text_of(client)
    assert len(many) <= len(few)
    assert "11 more alerts are open" in shown


def test_acknowledging_names_the_first_who_did(sign_in: SignIn) -> None:
    alert = made_alert(made_rule())
    answer = sign_in(Role.OPERATOR).post(f"{PAGE}{alert.pk}/acknowledge/")
    assert answer["Location"] == PAGE
    sign_in(Role.ADMIN).post(f"{PAGE}{alert.pk}/acknowledge/")
    alert.refresh_from_db()
    assert alert.acknowledged_by_name == "operator"
    assert AuditEntry.objects.filter(action="alert.acknowledge").count() == 1
    shown = text_of(sign_in(Role.OPERATOR))
    assert "operator is on it" in shown
    assert "I am on it" not in shown


def test_a_closed_alert_cannot_be_acknowledged(sign_in: SignIn) -> None:
    alert = made_alert(made_rule(), closed_at=timezone.now())
    client = sign_in(Role.OPERATOR)
    answer = client.post(
        f"{PAGE}{alert.pk}/acknowledge/", {"from": "alert"}, follow=True
    )
    assert "nobody needs to look at it" in answer.content.decode()
    assert not AuditEntry.objects.filter(action="alert.acknowledge").exists()


def test_whoever_operates_other_groups_acknowledges_nothing(db: None) -> None:
    user = User.objects.create(username="greta", role=NO_ROLE)
    Grant.objects.create(
        user=user, role=Role.OPERATOR, cluster="hangzhou", groups="pay-*"
    )
    client = Client()
    client.force_login(user)
    alert = made_alert(made_rule(), "order-settlement")
    mine = made_alert(made_rule(name="x"), "pay-a", minutes=2)
    assert client.post(f"{PAGE}{alert.pk}/acknowledge/").status_code == 403
    assert client.post(f"{PAGE}{mine.pk}/acknowledge/").status_code == 302
    assert "order-settlement" in text_of(client)  # all of a cluster is seen


def test_alerts_of_other_clusters_are_not_there(sign_in: SignIn) -> None:
    alert = made_alert(made_rule(), cluster="shanghai")
    client = sign_in(Role.ADMIN)
    assert client.get(f"{PAGE}{alert.pk}/").status_code == 404
    assert client.post(f"{PAGE}{alert.pk}/acknowledge/").status_code == 404
    assert "29,988" not in text_of(client)


def test_one_alert_has_a_page_after_its_rule_is_gone(sign_in: SignIn) -> None:
    alert = made_alert(None, "a", "b", closed_at=timezone.now(), end="rule")
    shown = text_of(sign_in(Role.VIEWER), f"{PAGE}{alert.pk}/")
    assert "Lag in 2 groups: a, b" in shown
    assert "closed: the rule was changed or switched off" in shown


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("", 3),
        ("group=settle", 1),
        ("rule=Old", 1),
        ("severity=crit", 2),
        ("state=open", 2),
        ("state=closed", 1),
        ("since=2099-01-01", 2),  # what is still open goes on
        ("until=2020-01-01", 0),
        ("severity=loud&since=soon&state=x", 3),
    ],
)
def test_the_history_is_filtered(sign_in: SignIn, query: str, kept: int) -> None:
    rule = made_rule()
    made_alert(rule)
    made_alert(rule, "invoice", minutes=10)
    old = {"minutes": 9_000, "closed_at": timezone.now() - timedelta(days=1)}
    made_alert(None, "b", rule_name="Old", severity="warn", **old)
    client = sign_in(Role.VIEWER)
    shown = text_of(client, f"{PAGE}history/?{query}")
    assert shown.count('<td class="name lead">') == kept
    answer: Any = client.get(f"{PAGE}history/alerts.csv?{query}")
    rows = list(csv.reader(io.StringIO(gathered(answer).decode())))
    assert len(rows) == kept + 1
    assert rows[0][0] == "alert"


def test_the_history_is_paged(sign_in: SignIn) -> None:
    rule = made_rule()
    for number in range(51):
        made_alert(rule, f"g{number}", minutes=number)
    client = sign_in(Role.VIEWER)
    first = text_of(client, f"{PAGE}history/")
    assert "page 1 of 2" in first
    assert text_of(client, f"{PAGE}history/?page=2").count('"name lead"') == 1
    assert Alert.objects.count() == 51
