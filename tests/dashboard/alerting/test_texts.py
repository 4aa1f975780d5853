"""A message says what, where, since when, why, what to do, and where to look."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from dashboard.alerting.kinds import ABOUT, Kind
from dashboard.alerting.records import write_news
from dashboard.alerting.said import link_of
from dashboard.alerting.texts import text_of
from dashboard.models import Alert, AlertMessage, Ownership, Team

from .seen import finding
from .written import NOW, closing, later, make_channel, make_rule, opening

pytestmark = pytest.mark.django_db


def the_message(what: str = "opened") -> AlertMessage:
    return AlertMessage.objects.select_related("alert").get(what=what)


def test_what_is_said_when_an_alert_opens() -> None:
    rule = make_rule(make_channel(), severity="crit")
    write_news("east", [opening(rule, finding=finding())], NOW)
    text = text_of(the_message(), "en")
    assert text.title == "[east] [critical] 500 messages wait for billing"
    assert text.kind == "failure"
    for part in (
        "Rule: Lag. Open since 2026-11-24 03:00 UTC.",
        "Since: 2026-11-24 02:59 UTC",
        "Queues: orders broker-a/3",
        "Owner: 10.0.0.7@41#1",
        "Why: In 1 of the queues 50 messages wait and nothing was committed for 2 m 00",
        "What to do: Take a stack dump of the owners",
        f"/clusters/east/alerts/{Alert.objects.get().pk}/",
    ):
        assert part in text.body


def test_the_team_that_owns_the_group_is_named_with_its_contact() -> None:
    team = Team.objects.create(name="Money", contact="money@example.org")
    Ownership.objects.create(team=team, groups="bill*")
    write_news("east", [opening(make_rule(make_channel()))], NOW)
    assert "Team: Money (money@example.org)" in text_of(the_message(), "en").body


def test_the_reason_without_a_finding() -> None:
    rule = make_rule(make_channel(), kind="out_stops", limit=5000.0)
    queue = {
        "key": "orders|broker-a|3",
        "lag": 50,
        "rate_out": 0.0,
        "owners": ["c1"],
        "still_ms": 12_000,
    }
    news = opening(rule, cause="", queues=[queue], silent=["c1"])
    write_news("east", [news], NOW)
    body = text_of(the_message(), "en").body
    assert "1 queue of billing stands still" in body
    assert "Its owner c1 does not answer when asked." in body
    row = Alert.objects.get().subjects.get()
    row.facts |= {"silent": [], "partial": True}
    row.save()
    body = text_of(the_message(), "en").body
    assert "c1 holds it and has committed nothing for 12 s." in body
    assert "≥ 1 queue of billing stands still" in body


def test_what_is_said_when_it_is_over() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule)], NOW)
    AlertMessage.objects.update(attempts=1, state="sent")
    write_news("east", [closing(rule, at_s=90)], later(90))
    text = text_of(the_message("closed"), "en")
    assert text.title == "[east] [warning] Over: 500 messages wait for billing"
    assert text.kind == "success"
    assert "Over since 2026-11-24 03:01 UTC, after 1 m 30 s: it is over." in text.body


def test_many_groups_are_named_in_part_and_counted() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, f"g{n:03}") for n in range(500)], NOW)
    text = text_of(the_message(), "en")
    assert "Consumption stalls in 500 groups: g000, g001, g002, …" in text.title
    assert "and 490 more" in text.body
    assert len(text.body) < 4000


def test_further_groups_only() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, name) for name in "abc"], NOW)
    AlertMessage.objects.update(what="more", content={"after": 2})
    text = text_of(the_message("more"), "en")
    assert text.title == "[east] [warning] Further: 500 messages wait for c"


def test_the_language_is_that_of_the_channel() -> None:
    rule = make_rule(make_channel())
    write_news("east", [opening(rule, finding=finding())], NOW)
    text = text_of(the_message(), "zh-hans")
    assert not any(word in text.title + text.body for word in ("messages", "Since"))


FACTS: dict[str, dict[str, Any]] = {
    Kind.FINDING: {"finding": finding()},
    Kind.BROKER: {"condition": "silent", "since": 5, "address": None, "error": "late"},
    Kind.DRAIN: {"value": None},
}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_its_words(kind: str, language: str) -> None:
    rule = make_rule(make_channel(), kind=kind, limit=ABOUT[kind].usual, finding="crit")
    news = opening(rule, cause="", **FACTS.get(kind, {}))
    write_news("east", [news], NOW)
    text = text_of(the_message(), language)
    assert "billing" in text.title
    assert "None" not in text.title + text.body
    assert "{" not in text.title + text.body


def test_the_link_is_that_of_the_page(settings: Any) -> None:
    settings.ROCKETSCOPE_URL = "https://rocket.example/"
    alert = Alert(pk=7, cluster="east 1/2")
    path = reverse("alert", kwargs={"cluster": "east", "pk": 7})
    assert link_of(Alert(pk=7, cluster="east")) == f"https://rocket.example{path}"
    assert link_of(alert).startswith("https://rocket.example/clusters/east%201%2F2/")
