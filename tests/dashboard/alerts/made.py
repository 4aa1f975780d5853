"""Rules, alerts and silences as the collector and people leave them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import redis
from django.utils import timezone

from dashboard.live.alert_documents import AlertingDocument, RuleState
from dashboard.live.names import alerting_key
from dashboard.models import (
    Alert,
    AlertMessage,
    AlertRule,
    AlertSubject,
    Channel,
    Silence,
)
from tests.dashboard.documents import lock_finding

CLUSTER = "hangzhou"
GROUP = "order-settlement"
SECRET = "s3cr3tt0k3n"
FACTS: dict[str, Any] = {
    "value": 29_988,
    "partial": False,
    "limit": 10_000,
    "lag": 29_988,
    "lag_partial": False,
    "rate_in": 189.0,
    "rate_out": 0.0,
    "members": 4,
    "queues": [
        {
            "key": f"orders|broker-b|{number}",
            "lag": 7_497,
            "rate_out": 0.0,
            "owners": ["10.2.31.24@8841#1"],
            "still_ms": 64_000,
        }
        for number in range(4, 8)
    ],
    "queue_count": 4,
    "silent": [],
    "finding": None,
}


def made_channel(name: str = "ding: on-call", **fields: Any) -> Channel:
    """Keep a channel whose address has a secret."""
    given = {"address": f"dingtalk://{SECRET}@{SECRET}abc/", **fields}
    return Channel.objects.create(name=name, **given)


def made_rule(*channels: Channel, **fields: Any) -> AlertRule:
    """Keep a rule about the lag of some groups."""
    given = {
        "name": "Lag",
        "kind": "lag",
        "limit": 10_000.0,
        "hold_s": 60,
        "clear_s": 30,
        "severity": "crit",
        "cluster": CLUSTER,
        "groups": "order-*",
        **fields,
    }
    rule = AlertRule.objects.create(**given)
    rule.channels.set(channels)
    return rule


def made_alert(
    rule: AlertRule | None,
    *names: str,
    minutes: float = 6,
    facts: dict[str, Any] | None = None,
    **fields: Any,
) -> Alert:
    """Keep an alert that opened so many minutes ago for some groups."""
    at = timezone.now() - timedelta(minutes=minutes)
    given = {
        "rule_name": rule.name if rule else "Lag",
        "kind": rule.kind if rule else "lag",
        "severity": rule.severity if rule else "crit",
        "cluster": CLUSTER,
        "key": f"@{at.timestamp()}",
        "opened_at": at,
        "told_at": at,
        **fields,
    }
    alert = Alert.objects.create(rule=rule, **given)
    AlertSubject.objects.bulk_create(
        [
            AlertSubject(
                alert=alert,
                name=name,
                began_at=at - timedelta(seconds=60),
                opened_at=at,
                closed_at=given.get("closed_at"),
                facts=FACTS | (facts or {}),
            )
            for name in names or (GROUP,)
        ]
    )
    return alert


def explained() -> dict[str, Any]:
    """Return facts with the finding that explains them."""
    return {"finding": lock_finding(["orders|broker-b|4"])}


def made_message(alert: Alert | None, channel: Channel, **fields: Any) -> AlertMessage:
    """Keep a message that was accepted."""
    at = alert.opened_at if alert else timezone.now()
    given = {
        "what": "opened",
        "made_at": at,
        "due_at": at,
        "ended_at": at + timedelta(seconds=1),
        "state": "sent",
        "attempts": 1,
        **fields,
    }
    return AlertMessage.objects.create(
        alert=alert, channel=channel, channel_name=channel.name, **given
    )


def made_silence(**fields: Any) -> Silence:
    """Keep a silence of the next hour."""
    now = timezone.now()
    given = {
        "cluster": CLUSTER,
        "starts_at": now - timedelta(minutes=5),
        "ends_at": now + timedelta(hours=1),
        "reason": "CHG-2310",
        "by_name": "li.wei",
        **fields,
    }
    return Silence.objects.create(**given)


def standing(**fields: Any) -> RuleState:
    """Return how a rule stands that is quiet for 214 groups."""
    found: RuleState = {
        "subjects": 214,
        "firing": 0,
        "pending": 0,
        "unknown": 0,
        "unknown_since": None,
        "unknown_names": [],
    }
    return found | fields  # type: ignore[return-value]


def write_alerting(port: int, rules: dict[int, RuleState], **fields: Any) -> None:
    """Leave in the cache how rules stand, as the collector does."""
    document: AlertingDocument = {
        "cluster": CLUSTER,
        "taken_at": round(timezone.now().timestamp() * 1000),
        "rules": {str(pk): state for pk, state in rules.items()},
        **fields,  # type: ignore[typeddict-item]
    }
    with redis.Redis(port=port) as client:
        client.set(alerting_key(CLUSTER), orjson.dumps(document))


def one_of_each_alert() -> None:
    """Keep one of everything with the number 1."""
    channel = made_channel(pk=1)
    rule = made_rule(channel, pk=1)
    alert = made_alert(rule, pk=1)
    made_message(alert, channel)
    made_silence(pk=1, groups=GROUP)
