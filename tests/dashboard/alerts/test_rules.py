"""Rules: their form, what is refused, and what is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from dashboard.alerting.kinds import ABOUT, Kind
from dashboard.alerting.rules import active_rules
from dashboard.alerts import rule_writes
from dashboard.alerts.rule_forms import begun, initial_of
from dashboard.alerts.rule_writes import FINDING_KEYS, RuleFields
from dashboard.alerts.words import closing, condition, finding_choices, subjects_of
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    AlertMessage,
    AlertRule,
    AuditEntry,
    Grant,
    Ownership,
    Role,
    Team,
    User,
)
from dashboard.models.user import NO_ROLE
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview

from .made import made_channel, made_rule

NEW = "/clusters/hangzhou/alerts/rules/new/"
FORM = {
    "name": "Oldest message",
    "kind": "oldest",
    "limit": "5 min",
    "clear_limit": "1 min",
    "hold": "30 s",
    "clear": "2 min",
    "severity": "crit",
    "cluster": "hangzhou",
    "groups": "pay-*",
    "on": "on",
}


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """The pages are of this cluster."""


def errors_of(answer: Any) -> str:
    assert answer.status_code == 422
    found = re.findall(r'role="alert">(.*?)</p>', answer.content.decode(), re.DOTALL)
    return " ".join(re.sub("<[^>]*>", "", each).strip() for each in found)


def test_a_rule_is_made_as_it_was_typed(sign_in: SignIn) -> None:
    first, second = made_channel(), made_channel("mail")
    form = FORM | {"channels": [first.name], "escalation": [second.name]}
    answer = sign_in(Role.ADMIN).post(NEW, form | {"escalate_after": "15 min"})
    assert answer["Location"] == "/clusters/hangzhou/alerts/"
    (rule,) = active_rules("hangzhou")
    assert (rule.limit, rule.clear_limit) == (300_000, 60_000)
    assert (rule.hold_ms, rule.clear_ms) == (30_000, 120_000)
    assert rule.channels == (first.pk,)
    assert rule.escalation == (second.pk,)
    assert rule.escalate_after_ms == 900_000
    row = AlertRule.objects.get()
    assert row.changed_by_name == "admin"
    entry = AuditEntry.objects.get(action="alert_rule.add")
    assert entry.details["channels"] == ["ding: on-call"]


def test_the_form_shows_a_rule_again_as_it_was_typed(sign_in: SignIn) -> None:
    sign_in(Role.ADMIN).post(NEW, FORM)
    row = AlertRule.objects.get()
    shown = initial_of(row)
    assert {name: shown[name] for name in FORM if name != "on"} == {
        name: value for name, value in FORM.items() if name != "on"
    }
    page = sign_in(Role.ADMIN).get(f"/clusters/hangzhou/alerts/rules/{row.pk}/")
    assert 'value="5 min"' in page.content.decode()


@pytest.mark.parametrize("kind", Kind)
def test_the_usual_values_of_each_kind_are_valid(sign_in: SignIn, kind: str) -> None:
    initial = begun(kind, "hangzhou") | {"name": kind, "finding": "crit"}
    answer = sign_in(Role.ADMIN).post(NEW, {k: v for k, v in initial.items() if v})
    assert answer.status_code == 302, errors_of(answer)
    row = AlertRule.objects.get()
    assert row.limit == ABOUT[kind].usual
    assert bool(row.finding) == (kind == "finding")
    for text in (condition(row), closing(row), subjects_of(row)):
        assert "%(" not in text
        assert text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "5"}, "“5” is not a span of time"),
        ({"limit": ""}, "needs a limit"),
        ({"limit": "400 d"}, "is not between"),
        ({"clear_limit": "6 min"}, "at most 5 m 00 s"),
        ({"kind": "members", "limit": "3", "clear_limit": "2"}, "at least 3"),
        ({"hold": "8 d"}, "691200 s is not between 0 and 604800 s"),
        ({"kind": "weather"}, "not one of the available choices"),
        ({"cluster": "shanghai"}, "not one of the available choices"),
        ({"name": ""}, "required"),
        ({"name": "x" * 81}, "at most 80"),
        ({"groups": "g" * 256}, "at most 255"),
        ({"kind": "broker", "limit": "2 min"}, "about no groups"),
        ({"escalate_after": "5 min"}, "Choose whom to tell"),
        ({"channels": ["nobody"]}, "not one of the available choices"),
        ({"kind": "finding", "finding": ""}, "is none of"),
        ({"team": "nobody"}, "There is no team “nobody”"),
    ],
)
def test_what_makes_no_sense_is_refused_beside_its_field(
    sign_in: SignIn, changes: dict[str, Any], words: str
) -> None:
    answer = sign_in(Role.ADMIN).post(NEW, FORM | changes)
    assert words in errors_of(answer)
    assert not AlertRule.objects.exists()


def test_a_name_is_taken_once(sign_in: SignIn) -> None:
    made_rule(name="Oldest message")
    answer = sign_in(Role.ADMIN).post(NEW, FORM)
    assert "already a rule named “Oldest message”" in errors_of(answer)


def test_there_are_not_more_rules_than_the_limit(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_writes, "MOST_RULES", 1)
    made_rule()
    assert "already 1 rules" in errors_of(sign_in(Role.ADMIN).post(NEW, FORM))


def test_operators_make_rules_about_what_they_operate(db: None) -> None:
    user = User.objects.create(username="greta", role=NO_ROLE)
    Grant.objects.create(
        user=user, role=Role.OPERATOR, cluster="hangzhou", groups="pay-*"
    )
    client = Client()
    client.force_login(user)
    assert client.post(NEW, FORM).status_code == 302
    for changes in ({"groups": ""}, {"groups": "*"}, {"groups": "order-*"}):
        assert client.post(NEW, FORM | changes | {"name": "x"}).status_code == 403
    other = made_rule()
    mine = AlertRule.objects.get(groups="pay-*")
    rules = "/clusters/hangzhou/alerts/rules"
    assert client.post(f"{rules}/{other.pk}/", FORM).status_code == 403
    assert client.post(f"{rules}/{other.pk}/switch/").status_code == 403
    assert client.post(f"{rules}/{other.pk}/delete/").status_code == 403
    # Nor may a rule be moved to groups of others.
    moved = FORM | {"groups": "order-*"}
    assert client.post(f"{rules}/{mine.pk}/", moved).status_code == 403
    assert client.post(f"{rules}/{mine.pk}/switch/").status_code == 302
    assert client.post(f"{rules}/{mine.pk}/delete/").status_code == 302
    assert list(AlertRule.objects.all()) == [other]


def test_a_rule_about_every_cluster_needs_an_admin_of_all(sign_in: SignIn) -> None:
    answer = sign_in(Role.OPERATOR).post(NEW, FORM | {"cluster": ""})
    assert answer.status_code in {403, 422}
    assert not AlertRule.objects.exists()
    assert sign_in(Role.ADMIN).post(NEW, FORM | {"cluster": ""}).status_code == 302
    assert AlertRule.objects.get().cluster == ""


def test_a_rule_is_switched_and_deleted(sign_in: SignIn) -> None:
    rule, client = made_rule(made_channel()), sign_in(Role.ADMIN)
    address = f"/clusters/hangzhou/alerts/rules/{rule.pk}/"
    client.post(f"{address}switch/")
    assert not active_rules("hangzhou")
    client.post(f"{address}switch/", {"on": "on"})
    assert active_rules("hangzhou")
    client.post(f"{address}switch/", {"on": "on"})  # twice is once
    client.post(f"{address}delete/")
    assert not AlertRule.objects.exists()
    told = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(told) == ["alert_rule.off", "alert_rule.on", "alert_rule.delete"]


def test_a_test_goes_to_all_channels_that_are_on(sign_in: SignIn) -> None:
    rule = made_rule(made_channel(), made_channel("off", on=False))
    rule.escalation.add(made_channel("boss"))
    client = sign_in(Role.ADMIN)
    for _twice in range(2):
        client.post(f"/clusters/hangzhou/alerts/rules/{rule.pk}/test/")
    names = AlertMessage.objects.values_list("channel_name", flat=True)
    assert sorted(names) == ["boss", "ding: on-call"]
    lonely = made_rule(name="lonely")
    answer = client.post(
        f"/clusters/hangzhou/alerts/rules/{lonely.pk}/test/", follow=True
    )
    assert "tells no channel that is on" in answer.content.decode()


def test_it_says_how_many_groups_match_now(sign_in: SignIn, write: Write) -> None:
    client = sign_in(Role.VIEWER)
    address = "/clusters/hangzhou/alerts/rules/matching/"
    assert "not known now" in client.get(address).content.decode()
    write(overview())
    names = [row["group"] for row in overview()["groups"]]
    told = client.get(f"{address}?groups={names[0]}").content.decode()
    assert f"1 of {len(names)} groups matches now: {names[0]}" in told
    team = Team.objects.create(name="settlement")
    Ownership.objects.create(team=team, cluster="hangzhou", groups=names[0])
    owned = client.get(f"{address}?team=settlement").content.decode()
    assert f"1 of {len(names)} groups matches now: {names[0]}" in owned
    assert "0 of" in client.get(f"{address}?team=other").content.decode()
    everyone = client.get(address).content.decode()
    assert f"{len(names)} of {len(names)} groups match now" in everyone


def test_all_findings_can_be_chosen_in_both_languages() -> None:
    for language in ("en", "zh-hans"):
        with translation.override(language):
            choices = dict(finding_choices())
        assert {*FINDING_KEYS, "crit", "warn"} == set(choices)
        assert len(set(choices.values())) == len(choices)


def test_what_a_kind_does_not_use_is_not_kept() -> None:
    wish = RuleFields("n", "finding", limit=3.0, finding="stalled", escalate_after_s=60)
    kept = wish.values()
    assert (kept["limit"], kept["escalate_after_s"]) == (None, None)
