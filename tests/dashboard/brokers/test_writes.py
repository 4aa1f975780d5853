from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis
from django.core.exceptions import PermissionDenied

from dashboard.brokers.writes import (
    BrokerError,
    NoStateError,
    UnknownBrokerError,
    say_gone,
)
from dashboard.frame.reasons import MAX_REASON
from dashboard.live.names import gone_key
from dashboard.models import AuditEntry, Role, User
from tests.dashboard.conftest import Write
from tests.dashboard.missing import overview_missing
from tests.support.ports import free_port
from tests.support.valkey import Valkey

pytestmark = pytest.mark.django_db

MISSING = "hz2@broker-c"
SILENT = "hz2@broker-b"


def user(role: Role = Role.OPERATOR) -> User:
    return User.objects.get_or_create(username=role.value, role=role)[0]


def kept(valkey: Valkey) -> dict[str, Any]:
    with redis.Redis(port=valkey.port) as client:
        stored = client.hgetall(gone_key("hangzhou"))
    return {name.decode(): orjson.loads(text) for name, text in stored.items()}


@pytest.fixture(autouse=True)
def collected(write: Write) -> None:
    write(overview_missing())


def test_the_word_is_kept_for_the_collector_and_in_the_audit_trail(
    valkey: Valkey,
) -> None:
    gone = say_gone(user(), "hangzhou", MISSING, "  scrapped, CHG-7 ")
    assert kept(valkey) == {
        MISSING: {"at": gone.at, "by": "operator", "reason": "scrapped, CHG-7"}
    }
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.cluster, entry.reason) == (
        "broker.gone",
        MISSING,
        "hangzhou",
        "scrapped, CHG-7",
    )
    assert round(entry.at.timestamp() * 1000) - gone.at < 60_000


def test_a_later_word_replaces_the_earlier(valkey: Valkey) -> None:
    say_gone(user(), "hangzhou", MISSING, "first")
    say_gone(user(Role.ADMIN), "hangzhou", MISSING, "second")
    assert kept(valkey)[MISSING]["by"] == "admin"
    assert AuditEntry.objects.count() == 2


@pytest.mark.parametrize("broker", [SILENT, "hz1@broker-a"])
def test_a_broker_that_is_listed_is_not_gone(valkey: Valkey, broker: str) -> None:
    with pytest.raises(BrokerError, match=f"“{broker}”: it is not gone"):
        say_gone(user(), "hangzhou", broker, "why not")
    assert kept(valkey) == {}
    assert not AuditEntry.objects.exists()


def test_a_broker_that_nobody_knows_is_named() -> None:
    with pytest.raises(UnknownBrokerError, match="no broker “hz9@x”"):
        say_gone(user(), "hangzhou", "hz9@x", "why not")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("", "A reason is needed"),
        (" \n", "A reason is needed"),
        ("x" * (MAX_REASON + 1), "has 1001 characters, at most 1000"),
    ],
)
def test_a_reason_is_needed(valkey: Valkey, reason: str, said: str) -> None:
    with pytest.raises(BrokerError, match=said):
        say_gone(user(), "hangzhou", MISSING, reason)
    assert kept(valkey) == {}


def test_viewers_say_nothing(valkey: Valkey) -> None:
    with pytest.raises(PermissionDenied, match="this needs operator"):
        say_gone(user(Role.VIEWER), "hangzhou", MISSING, "why not")
    assert kept(valkey) == {}


def test_without_a_document_nothing_is_known_to_be_missing() -> None:
    with pytest.raises(NoStateError, match="Nothing has been collected from “x”"):
        say_gone(user(), "x", MISSING, "why not")


def test_a_cache_that_is_away_leaves_no_entry_behind(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    with pytest.raises(NoStateError, match="cannot be read or written"):
        say_gone(user(), "hangzhou", MISSING, "why not")
    settings.ROCKETSCOPE_REDIS_URL = ""
    with pytest.raises(NoStateError, match="no Redis is configured"):
        say_gone(user(), "hangzhou", MISSING, "why not")
    assert not AuditEntry.objects.exists()


def test_a_word_that_cannot_be_kept_leaves_no_entry_behind(valkey: Valkey) -> None:
    """The document can be read and the hash not be written: neither is there after."""
    with redis.Redis(port=valkey.port) as client:
        client.set(gone_key("hangzhou"), "something else")
    with pytest.raises(NoStateError, match="WRONGTYPE"):
        say_gone(user(), "hangzhou", MISSING, "why not")
    assert not AuditEntry.objects.exists()
