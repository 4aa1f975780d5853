"""Groups hosted here: listed, added, changed and removed on pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.fleet import listeners
from dashboard.models import AuditEntry, ManagedGroup, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import hosted_group, looked_at, now_ms
from tests.dashboard.overview.test_pages import text_of

from .managed import NAME, host

LIST = "/clusters/hangzhou/hosted/"
GOOD: dict[str, Any] = {
    "name": "audit-trail",
    "members": "2",
    "topic": ["orders", "", "refunds"],
    "tags": ["TagA || TagB", "", ""],
    "mode": "CLUSTERING",
    "orderly": "on",
    "strategy": "CONSISTENT_HASH",
    "virtual_nodes": "20",
    "rooms": "left, over",
    "start_position": "CONSUME_FROM_FIRST_OFFSET",
    "listener": "fail",
    "listener_rate": "0.2",
    "listener_ms": "8",
    "reason": "trial",
}

NEARBY = {
    "broker_rooms": {"separator": "@", "named": {"broker-a": "hz1"}},
    "client_rooms": {"named": {"1": "hz1", "2": "hz2"}},
}


@pytest.fixture
def operator(sign_in: SignIn, write: Write) -> Client:
    write(looked_at(), hosted_group(at=now_ms()))
    return sign_in(Role.OPERATOR)


def test_a_group_is_hosted_from_the_page(operator: Client) -> None:
    assert "No group is hosted here yet" in text_of(operator.get(LIST))
    answer = operator.post(f"{LIST}new/", GOOD)
    assert answer["Location"] == LIST
    group = ManagedGroup.objects.get()
    assert group.topics == [
        {"topic": "orders", "expression": "TagA || TagB"},
        {"topic": "refunds", "expression": "*"},
    ]
    assert (group.orderly, group.members_wanted) == (True, 2)
    assert group.strategy_options == {"virtual_nodes": 20}
    assert group.listener_options == {"rate": 0.2, "ms": 8}
    assert group.start_position == "CONSUME_FROM_FIRST_OFFSET"
    listed = text_of(operator.get(LIST))
    assert "audit-trail 0 / 2 CONSISTENT_HASH orders TagA || TagB, refunds *" in listed


def test_a_group_is_changed_on_its_page(operator: Client) -> None:
    host(listener="work", listener_options={"ms": 8})
    page = operator.get(f"{LIST}{NAME}/").content.decode()
    assert 'name="topic" value="orders"' in page
    assert '<input type="number" name="listener_ms" value="8"' in page
    answer = operator.post(f"{LIST}{NAME}/", {**GOOD, "strategy": "AVG"})
    assert answer["Location"] == LIST
    group = ManagedGroup.objects.get()
    assert (group.name, group.listener, group.members_wanted) == (NAME, "fail", 3)


def test_the_form_offers_strategies_and_topics(operator: Client) -> None:
    host(strategy="MACHINE_ROOM_NEARBY-AVG", strategy_options=NEARBY)
    page = operator.get(f"{LIST}{NAME}/").content.decode()
    assert '<option value="MACHINE_ROOM_NEARBY-AVG" selected>' in page
    assert '<option value="orders"></option>' in page
    assert 'name="broker_rooms" value="broker-a=hz1"' in page
    assert 'name="client_rooms" value="1=hz1, 2=hz2"' in page


def test_a_group_is_removed(operator: Client) -> None:
    host()
    operator.post(f"{LIST}{NAME}/remove/", {"reason": "over"})
    assert ManagedGroup.objects.get().leaving
    assert AuditEntry.objects.filter(action="group.remove", reason="over").exists()
    assert f"{NAME} leaving" in text_of(operator.get(LIST))
    assert operator.get(f"{LIST}{NAME}/").status_code == 404
    again = operator.post(f"{LIST}{NAME}/remove/", {"reason": "over"}, follow=True)
    assert "is being removed" in text_of(again)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "a b"}, "group name 'a b': 1 to 255 letters"),
        ({"members": "201"}, "less than or equal to 200"),
        ({"topic": ""}, "This field is required"),
        ({"topic": ["a", "a"]}, "“a” is listed twice"),
        ({"topic": [*map(str, range(101))]}, "101 topics, at most 100"),
        ({"mode": "SOLO"}, "SOLO is not one of the available choices"),
        ({"strategy": "FAIR"}, "unknown allocation strategy 'FAIR'"),
        ({"strategy": "CONFIG", "config": "{"}, "This is not JSON"),
        ({"strategy": "CONFIG", "config": "[1]"}, "this is [1]"),
        ({"virtual_nodes": "0"}, "virtual_nodes is 0, allowed 1"),
        ({"virtual_nodes": "many"}, "Enter a whole number"),
        (
            {"strategy": "MACHINE_ROOM_NEARBY", "broker_rooms": "broker-a"},
            "“broker-a” is not a name and its room",
        ),
        ({"listener": "sing"}, "sing is not one of the available choices"),
        ({"listener_rate": "2"}, "rate is 2, allowed 0 to 1"),
        ({"listener_rate": "x"}, "Enter a number"),
    ],
)
def test_what_cannot_be_hosted_is_said_with_its_limit(
    operator: Client, changes: dict[str, Any], said: str
) -> None:
    answer = operator.post(f"{LIST}new/", {**GOOD, **changes})
    assert answer.status_code == 422
    assert said in text_of(answer).replace("&#x27;", "'").replace("&quot;", '"')
    assert not ManagedGroup.objects.exists()


def test_a_listener_of_ones_own_takes_any_options(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = listeners._makers["count"]
    monkeypatch.setitem(listeners._makers, "bill", lambda _options: made({}))
    own = {**GOOD, "listener": "bill", "listener_options": "depth"}
    answer = text_of(operator.post(f"{LIST}new/", own))
    assert "“depth” is not an option such as ms=8" in answer
    own["listener_options"] = "depth=8, mode=fast"
    operator.post(f"{LIST}new/", own)
    group = ManagedGroup.objects.get()
    assert group.listener_options == {"depth": 8, "mode": "fast"}


def test_a_name_is_taken_once(operator: Client) -> None:
    operator.post(f"{LIST}new/", GOOD)
    answer = operator.post(f"{LIST}new/", GOOD)
    assert "“audit-trail” is already hosted" in text_of(answer)


def test_viewers_read_the_list_only(sign_in: SignIn, hangzhou: object) -> None:
    host()
    viewer = sign_in(Role.VIEWER)
    page = text_of(viewer.get(LIST))
    assert NAME in page
    assert "Host a group" not in page
    for path in ("new/", f"{NAME}/"):
        assert viewer.get(LIST + path).status_code == 403
        assert viewer.post(LIST + path, GOOD).status_code == 403
    assert viewer.post(f"{LIST}{NAME}/remove/").status_code == 403
