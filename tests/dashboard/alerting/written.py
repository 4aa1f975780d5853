"""Rows of rules and channels, and news as the engine makes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from dashboard.alerting.engine import Closing, Opening
from dashboard.alerting.rules import Rule, active_rules
from dashboard.models import AlertRule, Channel

NOW = datetime(2026, 11, 24, 3, 0, tzinfo=UTC)
NOW_MS = round(NOW.timestamp() * 1000)


def later(seconds: float) -> datetime:
    """Return a moment some seconds after `NOW`."""
    return NOW + timedelta(seconds=seconds)


def make_channel(name: str = "on-call", **fields: Any) -> Channel:
    """Keep a channel to a webhook on this machine."""
    address = fields.pop("address", "json://127.0.0.1:9/hook")
    return Channel.objects.create(name=name, address=address, **fields)


def make_rule(
    *channels: Channel, escalation: tuple[Channel, ...] = (), **fields: Any
) -> Rule:
    """Keep a rule that tells these channels, and return it as the engine has it."""
    given = {"name": "Lag", "kind": "lag", "limit": 100.0, **fields}
    row = AlertRule.objects.create(**given)
    row.channels.set(channels)
    row.escalation.set(escalation)
    return next(rule for rule in active_rules("east") if rule.pk == row.pk)


def opening(
    rule: Rule,
    group: str = "billing",
    *,
    cause: str = "stalled",
    at_s: float = 0,
    **facts: Any,
) -> Opening:
    """Return news of a group for which a rule begins to fire."""
    at_ms = NOW_MS + round(at_s * 1000)
    given = {
        "value": 500,
        "partial": False,
        "limit": 100,
        "lag": 500,
        "queues": [
            {
                "key": "orders|broker-a|3",
                "lag": 500,
                "rate_out": 0.0,
                "owners": ["10.0.0.7@41#1"],
                "still_ms": None,
            }
        ],
        "queue_count": 1,
        "silent": [],
        "finding": None,
        **facts,
    }
    return Opening(rule, group, at_ms - 30_000, at_ms, cause, given)


def closing(
    rule: Rule, group: str = "billing", *, at_s: float = 60, end: str = "cleared"
) -> Closing:
    """Return news of a group for which a rule has ceased to fire."""
    return Closing(rule.pk, group, NOW_MS + round(at_s * 1000), end)
