from __future__ import annotations

import threading
from typing import Any

import pytest
import redis
from django.test import Client

from dashboard.config import api as routes
from dashboard.hosting.writes import GroupWish, save_group
from dashboard.live import arrival
from dashboard.live.documents import GroupState
from dashboard.live.names import watch_key
from dashboard.models import AuditEntry, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    large_group,
    lock_finding,
    looked_at,
    overview,
    overview_row,
    waiting_for_locks,
)
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS, wait_until

BASE = "/api/v1/clusters"


def some_group() -> GroupState:
    return large_group(queues=16, members=5)


def members(client: Client, group: str = "billing", **body: Any) -> Any:
    return client.post(
        f"{BASE}/hangzhou/groups/{group}/members", body, content_type="application/json"
    )


@pytest.fixture
def billing(hangzhou: object) -> None:
    wish = GroupWish("hangzhou", "billing", [("orders", "*")])
    save_group(None, wish, members=1)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/hangzhou/overview",
        "/hangzhou/findings",
        "/hangzhou/groups/g",
        "/hangzhou/groups/g/findings",
        "/hangzhou/groups/g/whatif",
    ],
)
def test_strangers_are_refused(path: str, hangzhou: object) -> None:
    assert Client().get(BASE + path).status_code == 401


def test_lists_clusters_before_and_after_their_first_sweep(
    sign_in: SignIn, write: Write
) -> None:
    client = sign_in(Role.VIEWER)
    (before,) = client.get(BASE).json()
    assert (before["name"], before["taken_at"]) == ("hangzhou", None)
    write(overview())
    (after,) = client.get(BASE).json()
    assert after["taken_at"] is not None
    assert after["groups"] == overview()["totals"]["groups"]


def test_gives_the_overview_as_collected(sign_in: SignIn, write: Write) -> None:
    document = overview()
    write(document)
    answer = sign_in(Role.VIEWER).get(f"{BASE}/hangzhou/overview")
    assert answer.json() == document


def test_an_overview_not_collected_yet_is_told(sign_in: SignIn, write: Write) -> None:
    answer = sign_in(Role.VIEWER).get(f"{BASE}/hangzhou/overview")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "cluster 'hangzhou' has not been collected yet"


def test_gives_a_group_as_collected(sign_in: SignIn, write: Write) -> None:
    document = some_group()
    write(document)
    answer = sign_in(Role.VIEWER).get(f"{BASE}/hangzhou/groups/{document['group']}")
    assert answer.json() == {**document, "team": None, "note": ""}


@pytest.mark.parametrize(
    "rest", ["overview", "findings", "groups/g", "groups/g/findings", "groups/g/whatif"]
)
def test_an_unknown_cluster_is_named(rest: str, sign_in: SignIn, write: Write) -> None:
    answer = sign_in(Role.VIEWER).get(f"{BASE}/nowhere/{rest}")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "no cluster 'nowhere' is configured"


def test_an_unknown_group_is_named_and_not_waited_for(
    sign_in: SignIn, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrival, "WAIT_SECONDS", 3600)
    write(overview())
    answer = sign_in(Role.VIEWER).get(f"{BASE}/hangzhou/groups/ghost")
    assert answer.status_code == 404
    assert "'ghost'" in answer.json()["detail"]


def test_a_known_group_without_document_is_watched_and_waited_for(
    sign_in: SignIn, write: Write, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine is no fault: the collector's answer may take long.
    monkeypatch.setattr(arrival, "WAIT_SECONDS", PATIENCE_SECONDS)
    document = some_group()
    listed = overview()
    listed["groups"][0]["group"] = document["group"]
    write(listed)
    client = sign_in(Role.VIEWER)

    def write_once_watched() -> None:
        with redis.Redis(port=valkey.port) as cache:
            key, name = watch_key("hangzhou"), document["group"]
            wait_until(lambda: cache.zscore(key, name) is not None, "the watch")
        write(document)

    late = threading.Thread(target=write_once_watched)
    late.start()
    answer = client.get(f"{BASE}/hangzhou/groups/{document['group']}")
    late.join()
    assert answer.json() == {**document, "team": None, "note": ""}


def test_compares_strategies(sign_in: SignIn, write: Write) -> None:
    document = some_group()
    write(document)
    path = f"{BASE}/hangzhou/groups/{document['group']}/whatif"
    answer = sign_in(Role.VIEWER).get(path)
    assert answer.status_code == 200
    assert "AVG_BY_CIRCLE" in answer.content.decode()


def test_a_scenario_that_cannot_be_read_is_told(sign_in: SignIn, write: Write) -> None:
    document = some_group()
    write(document)
    path = f"{BASE}/hangzhou/groups/{document['group']}/whatif?nonsense=1"
    answer = sign_in(Role.VIEWER).get(path)
    assert answer.status_code == 422
    assert "nonsense" in answer.json()["detail"]


def test_without_a_cache_it_says_so(
    sign_in: SignIn, hangzhou: object, settings: Any
) -> None:
    client = sign_in(Role.VIEWER)
    settings.ROCKETSCOPE_REDIS_URL = ""
    answer = client.get(f"{BASE}/hangzhou/overview")
    assert answer.status_code == 503
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    answer = client.get(f"{BASE}/hangzhou/overview")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "Redis does not answer."


def test_operators_add_and_remove_members(
    sign_in: SignIn, billing: None, write: Write
) -> None:
    write(looked_at())
    client = sign_in(Role.OPERATOR)
    assert members(client, action="add").json() == {"members_wanted": 2}
    assert members(client, action="remove", reason="night").json() == {
        "members_wanted": 1
    }
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.action, entry.reason, entry.actor_name) == (
        "member.remove",
        "night",
        "operator",
    )


def test_viewers_may_not(sign_in: SignIn, billing: None) -> None:
    answer = members(sign_in(Role.VIEWER), action="add")
    assert answer.status_code == 403
    assert "viewer" in answer.json()["detail"]


def test_strangers_may_not_either(billing: None) -> None:
    assert members(Client(), action="add").status_code == 401


def test_without_its_token_a_write_is_refused(sign_in: SignIn, billing: None) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = sign_in(Role.OPERATOR).cookies
    assert members(browser, action="add").status_code == 403


@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"action": "dance"}, 422, "add"),
        ({}, 422, "action"),
        ({"action": "remove", "client_id": "ghost"}, 409, "'ghost' is not a hosted"),
    ],
)
def test_bad_wishes_are_told(
    body: dict[str, str], status: int, named: str, sign_in: SignIn, billing: None
) -> None:
    answer = members(sign_in(Role.OPERATOR), **body)
    assert answer.status_code == status
    assert named in str(answer.json()["detail"])


def test_a_group_not_managed_is_named(sign_in: SignIn, billing: None) -> None:
    answer = members(sign_in(Role.OPERATOR), "theirs", action="add")
    assert answer.status_code == 404
    assert "'theirs'" in answer.json()["detail"]


def test_fewer_than_none_is_refused_with_the_limits(
    sign_in: SignIn, billing: None
) -> None:
    client = sign_in(Role.OPERATOR)
    members(client, action="remove")
    answer = members(client, action="remove")
    assert answer.status_code == 409
    assert answer.json()["detail"] == (
        "“billing” has no hosted member that could leave."
    )


def test_describes_itself(sign_in: SignIn, hangzhou: object) -> None:
    answer = Client().get("/api/v1/openapi.json")
    document = answer.json()
    rooms = ("/labs", "/reports", "/timers", "/timeline")
    rooms += ("/hosted", "/switch", "/changes", "/scenarios", "/brokers")
    rooms += ("/configuration", "/topics", "/clients", "/messages", "/offsets")
    rooms += ("/teams", "/note")
    rooms += ("/name-servers", "/search", "/views", "/dead-letters", "/retries")
    rooms += (
        "/alert-trials",
        "/alerts",
        "/alert-rules",
        "/alert-channels",
        "/silences",
    )
    paths = {p for p in document["paths"] if not any(room in p for room in rooms)}
    assert paths == {
        f"/api/v1/clusters{rest}"
        for rest in (
            "",
            "/{cluster}",
            "/{cluster}/overview",
            "/{cluster}/groups/{group}",
            "/{cluster}/findings",
            "/{cluster}/groups/{group}/findings",
            "/{cluster}/groups/{group}/whatif",
            "/{cluster}/groups/{group}/members",
            "/{cluster}/groups/{group}/moves",
        )
    }
    assert "GroupState" in document["components"]["schemas"]
    assert routes.api.version == document["info"]["version"]


def with_finding() -> GroupState:
    keys = ["orders|hz1@broker-a|4", "orders|hz1@broker-a|5"]
    return waiting_for_locks(findings=[lock_finding(keys)])


def test_gives_findings_as_words_and_as_values(sign_in: SignIn, write: Write) -> None:
    document = with_finding()
    write(document)
    client = sign_in(Role.VIEWER)
    path = f"{BASE}/hangzhou/groups/{document['group']}/findings"
    (found,) = client.get(path).json()
    assert (found["key"], found["level"]) == ("lock_expired", "warn")
    assert found["said"]["title"] == "Queues wait for a lock to expire"
    assert "10.20.4.19@11 is gone" in found["said"]["text"]
    assert found["values"] == document["findings"][0]["values"]
    assert found["queues"] == ["orders|hz1@broker-a|4", "orders|hz1@broker-a|5"]
    (said,) = client.get(path, headers={"accept-language": "zh-hans"}).json()
    assert said["said"]["title"] == "队列在等待锁过期"


def test_lists_the_findings_of_a_cluster_worst_first(
    sign_in: SignIn, write: Write
) -> None:
    rows = [
        overview_row("a", findings=[{"key": "idle_members", "level": "info"}]),
        overview_row("b"),
        overview_row(
            "c",
            findings=[
                {"key": "stalled", "level": "crit"},
                {"key": "retries", "level": "warn"},
            ],
        ),
    ]
    client = sign_in(Role.VIEWER)
    path = f"{BASE}/hangzhou/findings"
    assert client.get(path).status_code == 503
    write(overview(groups=rows))
    found = client.get(path).json()
    assert [(each["group"], each["key"]) for each in found] == [
        ("c", "stalled"),
        ("c", "retries"),
        ("a", "idle_members"),
    ]
    assert found[0]["title"] == "Consumption stalls"
