"""Alerts, silences, rules and channels for programs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.gateway.settings import ClusterSettings
from dashboard.models import AlertRule, Channel, Role, Silence
from tests.dashboard.conftest import SignIn

from .made import (
    SECRET,
    explained,
    made_alert,
    made_channel,
    made_message,
    made_rule,
    made_silence,
)

BASE = "/api/v1/clusters/hangzhou"
CHANNELS = "/api/v1/alert-channels"
RULE = {"name": "Oldest", "kind": "oldest", "limit": 300_000, "groups": "pay-*"}


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """The routes are of this cluster."""


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    return getattr(client, method)(path, body, content_type="application/json")


def test_an_alert_is_told_with_its_groups_and_messages(sign_in: SignIn) -> None:
    channel = made_channel()
    alert = made_alert(made_rule(channel), facts=explained())
    made_message(alert, channel)
    silence = made_silence()
    told = sign_in(Role.VIEWER).get(f"{BASE}/alerts/{alert.pk}").json()
    assert told["title"] == "29,988 messages wait for order-settlement"
    assert told["subjects"][0]["facts"]["queue_count"] == 4
    assert told["messages"][0]["state"] == "sent"
    assert told["silenced_until"][:16] == silence.ends_at.isoformat()[:16]
    assert (told["closed_at"], told["end"]) == (None, "")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("", 3),
        ("open=true", 2),
        ("open=false", 1),
        ("group=invoice", 1),
        ("rule=Old", 1),
        ("severity=warn", 1),
        ("until=2020-01-01T00:00:00Z", 0),
        ("since=2099-01-01T00:00:00Z", 2),
        ("limit=1", 1),
        ("limit=2&offset=2", 1),
    ],
)
def test_the_list_is_filtered_and_paged(sign_in: SignIn, query: str, kept: int) -> None:
    rule = made_rule()
    made_alert(rule)
    made_alert(rule, "invoice", minutes=10)
    old = {"minutes": 9_000, "closed_at": timezone.now() - timedelta(days=1)}
    made_alert(None, "b", rule_name="Old", severity="warn", **old)
    assert len(sign_in(Role.VIEWER).get(f"{BASE}/alerts?{query}").json()) == kept


def test_an_alert_is_acknowledged_once_and_while_it_is_open(sign_in: SignIn) -> None:
    alert, client = made_alert(made_rule()), sign_in(Role.OPERATOR)
    path = f"{BASE}/alerts/{alert.pk}/acknowledge"
    assert send(sign_in(Role.VIEWER), "post", path).status_code == 403
    assert send(client, "post", path).json()["acknowledged_by"] == "operator"
    alert.closed_at = timezone.now()
    alert.save()
    answer = send(client, "post", path)
    assert answer.status_code == 422
    assert "has closed" in answer.json()["detail"]
    assert client.get(f"{BASE}/alerts/99").status_code == 404


def test_a_silence_is_made_listed_and_ended(sign_in: SignIn) -> None:
    rule, client = made_rule(), sign_in(Role.OPERATOR)
    ends_at = (timezone.now() + timedelta(hours=2)).isoformat()
    body = {"groups": "order-*", "ends_at": ends_at, "reason": "CHG", "rule": rule.pk}
    made = send(client, "post", f"{BASE}/silences", body)
    assert (made.status_code, made.json()["rule"]) == (201, "Lag")
    (listed,) = client.get(f"{BASE}/silences").json()
    assert listed == made.json()
    path = f"{BASE}/silences/{listed['id']}"
    assert send(client, "delete", path).status_code == 204
    assert Silence.objects.get().ends_at <= timezone.now()
    for changes, status in (
        ({"ends_at": "2020-01-01T00:00:00Z"}, 422),
        ({"reason": " "}, 422),
        ({"ends_at": "tomorrow"}, 422),
        ({"rule": 99}, 404),
    ):
        assert (
            send(client, "post", f"{BASE}/silences", body | changes).status_code
            == status
        )


def test_a_rule_is_made_changed_and_deleted(sign_in: SignIn) -> None:
    channel, client = made_channel(), sign_in(Role.OPERATOR)
    body = RULE | {"channels": [channel.name], "hold_s": 30}
    made = send(client, "post", f"{BASE}/alert-rules", body)
    assert made.status_code == 201, made.content
    assert made.json()["channels"] == [channel.name]
    path = f"{BASE}/alert-rules/{made.json()['id']}"
    changed = send(client, "put", path, RULE | {"limit": 60_000})
    assert (changed.json()["limit"], changed.json()["channels"]) == (60_000, [])
    assert changed.json()["changed_by"] == "operator"
    assert client.get(path).json() == changed.json()
    (listed,) = client.get(f"{BASE}/alert-rules").json()
    assert (listed["state"], listed["fired"]) == ("unknown", 0)
    assert send(client, "delete", path).status_code == 204
    assert not AlertRule.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status", "word"),
    [
        ({"kind": "weather"}, 422, "weather"),
        ({"limit": None}, 422, "limit"),
        ({"limit": -1}, 422, "limit"),
        ({"hold_s": 10**6}, 422, "604800"),
        ({"channels": ["nobody"]}, 422, "nobody"),
        ({"channels": ["x"] * 21}, 422, "20"),
        ({"severity": "loud"}, 422, "loud"),
        ({"groups": ""}, 403, "admin"),
        ({"every_cluster": True}, 403, "admin"),
    ],
)
def test_what_a_rule_cannot_be_is_named(
    sign_in: SignIn, changes: dict[str, Any], status: int, word: str
) -> None:
    client = sign_in(Role.OPERATOR)
    answer = send(client, "post", f"{BASE}/alert-rules", RULE | changes)
    assert answer.status_code == status
    assert word in answer.content.decode().lower()
    assert not AlertRule.objects.exists()


def test_a_channel_is_made_and_changed_and_its_address_never_told(
    sign_in: SignIn,
) -> None:
    client = sign_in(Role.ADMIN)
    body = {"name": "hook", "address": f"json://user:{SECRET}@127.0.0.1:9/hook"}
    made = send(client, "post", CHANNELS, body)
    assert made.status_code == 201
    assert made.json()["scheme"] == "json://…"
    path = f"{CHANNELS}/{made.json()['id']}"
    changed = send(client, "put", path, {"name": "hook 2", "on": False})
    told = [made, changed, client.get(CHANNELS), send(client, "post", f"{path}/test")]
    assert not [each for each in told if SECRET in each.content.decode()]
    assert told[3].json()["state"] == "waiting"
    assert Channel.objects.get().address == body["address"]
    bad = send(client, "post", CHANNELS, {"name": "x", "address": f"x://{SECRET}"})
    assert bad.status_code == 422
    assert SECRET not in bad.content.decode()
    assert send(client, "delete", path).status_code == 204
    assert sign_in(Role.VIEWER).get(CHANNELS).json() == []
