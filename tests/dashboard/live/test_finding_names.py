from __future__ import annotations

from typing import Any

import pytest
import redis

from dashboard.live.finding_names import FoundName, is_missing, matches_of, near_names
from dashboard.live.known_names import known_names
from dashboard.live.names import names_key
from tests.support.valkey import Valkey

from .names_documents import put_names


@pytest.fixture(autouse=True)
def names(valkey: Valkey) -> None:
    put_names(
        valkey.port,
        "hangzhou",
        group=["order-audit", "order-settlement"],
        topic=["orders", "order-audit"],
        client=["10.20.4.17@4100"],
        broker=["broker-a"],
    )
    put_names(valkey.port, "beijing", group=["Orders"])


def test_the_best_of_each_kind_are_found_with_earlier_clusters_first() -> None:
    known = known_names(["beijing", "nowhere", "hangzhou"])
    assert [each.cluster for each in known] == ["beijing", "hangzhou"]
    groups, topics = matches_of(known, "order", 2)
    assert groups.count == 3
    assert groups.found == [
        FoundName("group", "Orders", "beijing"),
        FoundName("group", "order-audit", "hangzhou"),
    ]
    assert [each.name for each in topics.found] == ["orders", "order-audit"]
    assert matches_of(known, "0.20.4", 2)[0].kind == "client"


def test_names_that_did_not_change_are_not_read_again(valkey: Valkey) -> None:
    first = known_names(["hangzhou"])[0]
    with redis.Redis(port=valkey.port) as client:
        client.config_resetstat()
        assert known_names(["hangzhou"])[0] is first
        calls: Any = client.info("commandstats")
        assert "cmdstat_get" not in calls
        put_names(valkey.port, "hangzhou", group=["other"])
        assert known_names(["hangzhou"])[0].names["group"] == ["other"]
        client.delete(names_key("hangzhou"))
        assert known_names(["hangzhou"]) == []


def test_a_near_name_comes_after_the_very_name_of_another_kind() -> None:
    assert near_names("hangzhou", "group", "orders")[0].kind == "topic"
    slip = near_names("hangzhou", "group", "order-setlement")
    assert slip[0] == FoundName("group", "order-settlement", "hangzhou")
    assert near_names("nowhere", "group", "orders") == []


def test_a_name_is_missing_only_where_the_names_are_known(settings: Any) -> None:
    assert is_missing("hangzhou", "broker", "broker-b")
    assert not is_missing("hangzhou", "broker", "broker-a")
    assert not is_missing("nowhere", "broker", "broker-b")
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert not is_missing("hangzhou", "broker", "broker-b")
    assert near_names("hangzhou", "broker", "broker-b") == []
