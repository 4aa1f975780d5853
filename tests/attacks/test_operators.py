"""What an operator cannot do to production by accident, through each door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.hosting.writes import (
    FleetError,
    GroupWish,
    ReadOnlyError,
    add_member,
    save_group,
)
from dashboard.models import AuditEntry, ManagedGroup, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    looked_at,
    now_ms,
    overview_row,
    waiting_for_locks,
)

NAME = "order-settlement"
PAGE = "/clusters/hangzhou/hosted/"
API = "/api/v1/clusters/hangzhou"
FORM: dict[str, Any] = {
    "name": NAME,
    "members": "1",
    "topic": "orders",
    "mode": "CLUSTERING",
    "strategy": "AVG",
    "start_position": "CONSUME_FROM_LAST_OFFSET",
    "listener": "count",
}
BODY: dict[str, Any] = {"topics": [{"topic": "orders"}]}
Door = Callable[[Client, str], Any]


def put(client: Client, path: str, **body: Any) -> Any:
    return client.put(API + path, body, content_type="application/json")


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(API + path, body, content_type="application/json")


def host_by_page(client: Client, confirm: str) -> Any:
    return client.post(f"{PAGE}new/", {**FORM, "confirm": confirm})


def host_by_rest(client: Client, confirm: str) -> Any:
    return put(client, f"/hosted/{NAME}", **BODY, confirm=confirm)


def host_with_nobody(client: Client, confirm: str) -> Any:
    return put(client, f"/hosted/{NAME}", **BODY, members=0, confirm=confirm)


HOSTING = [host_by_page, host_by_rest, host_with_nobody]


@pytest.fixture
def operator(sign_in: SignIn, write: Write) -> Client:
    """An operator, and a group with three members of others."""
    production = waiting_for_locks(now_ms())
    write(looked_at(groups=[overview_row(NAME)]), production)
    return sign_in(Role.OPERATOR)


@pytest.fixture
def read_only(settings: Any, operator: Client) -> Client:
    """An operator of a cluster that is attached as it is by default."""
    prod = ClusterSettings("hangzhou", ("10.20.6.1:9876",))
    settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": prod}
    return operator


@pytest.mark.parametrize("door", HOSTING)
@pytest.mark.parametrize("confirm", ["", "yes", NAME.upper(), f"{NAME}-2"])
def test_a_group_in_use_is_not_hosted_unasked(
    operator: Client, door: Door, confirm: str
) -> None:
    answer = door(operator, confirm)
    assert answer.status_code in (409, 422)
    said = answer.content.decode()
    assert "3 members that are not hosted here" in said
    assert "acknowledges messages without processing them" in said
    assert not ManagedGroup.objects.exists()


@pytest.mark.parametrize("door", HOSTING)
def test_the_name_confirms_it_and_the_log_keeps_that(
    operator: Client, door: Door
) -> None:
    assert door(operator, NAME).status_code in (200, 302)
    assert ManagedGroup.objects.get().name == NAME
    kept = AuditEntry.objects.get(action="group.add").details
    assert "3 members that are not hosted here" in kept["confirmed"]


def test_rest_names_the_code(operator: Client) -> None:
    answer = host_by_rest(operator, "")
    assert (answer.status_code, answer.json()["code"]) == (409, "confirm")


def test_a_group_whose_members_are_away_is_not_hosted_unasked(
    operator: Client, write: Write
) -> None:
    away = waiting_for_locks(now_ms())
    away["members"] = []
    for queue in away["queues"]:
        queue["owners"] = []
    write(away)
    answer = host_by_rest(operator, "")
    assert answer.status_code == 409
    assert "committed offsets on 16 queues" in answer.json()["detail"]


@pytest.mark.parametrize("at", [0, 1])
def test_a_group_seen_long_ago_is_not_hosted_unasked(
    operator: Client, write: Write, at: int
) -> None:
    write(looked_at(at=at, groups=[overview_row("other")]))
    answer = put(operator, "/hosted/other-2", **BODY)
    assert answer.status_code == 409
    assert "is not certain" in answer.json()["detail"]


def test_no_member_joins_strangers_unasked(operator: Client, hangzhou: object) -> None:
    save_group(None, GroupWish("hangzhou", NAME, [("orders", "*")]), members=0)
    path = f"/groups/{NAME}/members"
    answer = post(operator, path, action="add")
    assert (answer.status_code, answer.json()["code"]) == (409, "confirm")
    assert ManagedGroup.objects.get().members_wanted == 0
    assert post(operator, path, action="add", confirm=NAME).status_code == 200
    assert ManagedGroup.objects.get().members_wanted == 1


def test_a_listener_is_not_changed_beside_strangers_unasked(operator: Client) -> None:
    wish = GroupWish("hangzhou", NAME, [("orders", "*")], listener="work")
    save_group(None, wish, members=1)
    answer = operator.post(f"{PAGE}{NAME}/", {**FORM, "listener": "fail"})
    assert answer.status_code == 422
    assert "dead-letter queue" in answer.content.decode()
    assert ManagedGroup.objects.get().listener == "work"


def test_the_same_definition_again_asks_nothing(operator: Client) -> None:
    save_group(None, GroupWish("hangzhou", NAME, [("orders", "*")]), members=1)
    assert host_by_rest(operator, "").status_code == 200


# A read-only cluster


@pytest.mark.parametrize("door", HOSTING)
def test_nothing_is_hosted_on_a_read_only_cluster(
    read_only: Client, door: Door
) -> None:
    answer = door(read_only, NAME)
    assert answer.status_code in (403, 422)
    said = answer.content.decode()
    assert "attached read-only" in said
    assert "ROCKETSCOPE_CLUSTER_HANGZHOU_WRITES" in said
    assert not ManagedGroup.objects.exists()


@pytest.fixture
def hosted_before(operator: Client, settings: Any) -> ManagedGroup:
    wish = GroupWish("hangzhou", NAME, [("orders", "*")])
    group = save_group(None, wish, members=2)
    prod = ClusterSettings("hangzhou", ("10.20.6.1:9876",))
    settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": prod}
    return group


def test_a_group_hosted_before_gets_no_more_members(
    operator: Client, hosted_before: ManagedGroup
) -> None:
    path = f"/groups/{NAME}"
    answers = [
        post(operator, f"{path}/members", action="add", confirm=NAME),
        put(operator, f"/hosted/{NAME}", **BODY, orderly=True, confirm=NAME),
        post(operator, f"{path}/switch", query="v=1", token="x", reason="r"),
    ]
    assert [each.status_code for each in answers] == [403] * 3
    assert {each.json()["code"] for each in answers} == {"read_only"}
    hosted_before.refresh_from_db()
    assert (hosted_before.members_wanted, hosted_before.revision) == (2, 1)


def test_a_group_hosted_before_can_be_let_go(
    operator: Client, hosted_before: ManagedGroup
) -> None:
    answer = post(operator, f"/groups/{NAME}/members", action="remove")
    assert answer.json() == {"members_wanted": 1}
    operator.post(f"{PAGE}{NAME}/remove/", {"reason": "over"})
    hosted_before.refresh_from_db()
    assert hosted_before.leaving


def test_pages_say_why_and_offer_nothing(
    operator: Client, hosted_before: ManagedGroup
) -> None:
    group = operator.get(f"/clusters/hangzhou/groups/{NAME}/").content.decode()
    assert "its members do not join" in group
    assert "data-add" not in group
    for page in (
        group,
        *(operator.get(PAGE + p).content.decode() for p in ("", "new/")),
    ):
        assert "ROCKETSCOPE_CLUSTER_HANGZHOU_WRITES=on" in page
        assert "Host it" not in page
    listed = operator.get("/api/v1/clusters").json()
    assert [each["read_only"] for each in listed] == [True]
    assert "read-only" in operator.get("/clusters/hangzhou/").content.decode()


def test_the_program_itself_is_not_above_it(read_only: Client) -> None:
    wish = GroupWish("hangzhou", NAME, [("orders", "*")])
    with pytest.raises(ReadOnlyError, match="attached read-only"):
        save_group(None, wish, members=1)
    with pytest.raises(FleetError, match="no hosted group"):
        add_member(None, "hangzhou", NAME)


def test_a_cluster_no_longer_configured_is_not_written_to(
    operator: Client, settings: Any
) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {}
    sync_clusters({})
    wish = GroupWish("hangzhou", NAME, [("orders", "*")])
    with pytest.raises(ReadOnlyError, match="no longer configured"):
        save_group(None, wish, members=1)
