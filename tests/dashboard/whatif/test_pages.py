from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    BROKERS,
    group_state,
    member,
    queue,
    waiting_for_locks,
)
from tests.dashboard.groups.test_pages import embedded
from tests.dashboard.missing_broker import SINCE, without_a_broker
from tests.dashboard.overview.test_pages import text_of

PAGE = "/clusters/hangzhou/groups/order-settlement/whatif/"


@pytest.fixture
def viewer(sign_in: SignIn, write: Write) -> Client:
    write(waiting_for_locks())
    return sign_in(Role.VIEWER)


def test_every_strategy_stands_beside_now(viewer: Client) -> None:
    answer = viewer.get(PAGE)
    page = text_of(answer)
    for name in ("AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "CONSISTENT_HASH"):
        assert f" {name} " in page
    # Four queues wait for locks: what the others have says nothing of how even it is.
    assert re.search(
        r"Now AVG 4 queues without owner 0 0( — [\w ]+){3} never 1 / 1 6/5/1 "
        r"AVG 4 0 1.21 0.16",
        page,
    )
    assert "20 m 05 s 1 / 1 6/5/5 AVG_BY_CIRCLE 11 0 1.37 0.26" in page
    assert "4 of 16 queues change owner" in page
    assert "orders · hz2@broker-b / 4 No owner 10.20.4.19" in page


def test_what_clients_do_not_report_is_asked_for(viewer: Client) -> None:
    page = text_of(viewer.get(PAGE))
    assert "needs a list of queues per member, which clients do not report" in page
    assert "virtual nodes 10 assumed" in page


def test_another_strategy_is_shown_in_full(viewer: Client) -> None:
    answer = viewer.get(PAGE, {"v": "1", "s": "AVG_BY_CIRCLE"})
    assert embedded(answer, "comparison")["chosen"] == "AVG_BY_CIRCLE"
    assert "11 of 16 queues change owner" in text_of(answer)


def test_the_balanced_plan_can_be_shown(viewer: Client) -> None:
    answer = viewer.get(PAGE, {"show": "BALANCED"})
    assert embedded(answer, "comparison")["chosen"] == "BALANCED"


def test_members_join_and_leave_in_the_scenario(viewer: Client) -> None:
    leaving, staying = member(0)["client_id"], member(1)["client_id"]
    query = {"v": "1", "r": leaving, "a": ["10.20.4.30@1", ""]}
    answer = viewer.get(PAGE, query)
    content = answer.content.decode()
    assert f'name="y" value="{leaving}">' in content
    assert f'name="y" value="{staying}" checked>' in content
    assert 'name="a" value="10.20.4.30@1" checked' in content
    then = embedded(answer, "comparison")["members"]["then"]
    assert len(then) == 3


def test_rooms_given_make_the_room_strategy_computable(viewer: Client) -> None:
    answer = viewer.get(PAGE, {"v": "1", "o": ["hz1", "hz2"], "s": "MACHINE_ROOM"})
    assert embedded(answer, "comparison")["chosen"] == "MACHINE_ROOM"


@pytest.mark.parametrize("query", ["v=1&n=many", "v=7&s=AVG", "v=1&bad=1", "s=AVG"])
def test_a_scenario_that_cannot_be_read_is_said_over_the_present_group(
    viewer: Client, query: str
) -> None:
    answer = viewer.get(f"{PAGE}?{query}")
    assert answer.status_code == 200
    assert "This scenario cannot be computed" in text_of(answer)
    assert "6/5/5" in text_of(answer)


def test_the_check_says_why_it_could_not_be_made(viewer: Client) -> None:
    assert "Check with the broker" in text_of(viewer.get(PAGE, {"v": "1", "s": "AVG"}))
    page = text_of(viewer.get(f"{PAGE}check/", {"strategy": "CONSISTENT_HASH"}))
    assert "Not checked" in page
    assert "not by CONSISTENT_HASH" in page


def test_nothing_is_divided_in_broadcasting(viewer: Client, write: Write) -> None:
    write(waiting_for_locks(kind="broadcasting", mode="BROADCASTING"))
    page = text_of(viewer.get(PAGE))
    assert "Nothing to divide" in page
    assert "every member has all queues" in page


def test_a_group_without_members_or_queues_has_reasons(
    viewer: Client, write: Write
) -> None:
    write(group_state([], [queue(BROKERS[0], 0)], kind="offline"))
    assert "The scenario has no members" in text_of(viewer.get(PAGE, {"v": "1"}))
    write(group_state([member(0)], []))
    assert "The group has no queues" in text_of(viewer.get(PAGE))


@pytest.mark.parametrize(("queues", "members"), [(1, 2), (2, 2), (3, 3), (16, 3)])
def test_a_group_with_nobody_online_begins_with_some_members(
    viewer: Client, write: Write, queues: int, members: int
) -> None:
    held = [queue(BROKERS[0], number) for number in range(queues)]
    write(group_state([], held, kind="offline"))
    answer = viewer.get(PAGE)
    assert f"begins with {members} new members" in text_of(answer)
    then = embedded(answer, "comparison")["members"]["then"]
    assert len(then) == members
    assert answer.context["query"].count("a=new-") == members


def test_rooms_of_brokers_and_of_the_scenario_are_offered_for_each_member(
    viewer: Client,
) -> None:
    key = member(0)["client_id"]
    answer = viewer.get(PAGE, {"v": "1", "o": "hz9", "C": f"{key}:hz2"})
    assert answer.context["form"].known_rooms == ["hz1", "hz2", "hz9"]
    row = answer.content.decode().partition(f'name="C/{key}"')[2]
    assert row.partition("</select>")[0].count("selected>hz2<") == 1


def test_the_address_says_whether_the_moves_are_shown(viewer: Client) -> None:
    shown = viewer.get(PAGE, {"v": "1", "s": "AVG", "view": "moves"}).content.decode()
    assert '<div class="panel-body" data-view="map" hidden>' in shown
    assert '<div class="moves" data-view="moves">' in shown
    shown = viewer.get(PAGE, {"v": "1", "s": "AVG", "only": "moved"}).content.decode()
    assert '<div class="panel-body" data-view="map">' in shown
    assert 'aria-current="true" data-value="moved"' in shown


def test_the_forms_own_address_is_read_back(viewer: Client) -> None:
    query = {
        "v": "1",
        "s": "CONSISTENT_HASH",
        "n": "40",
        "x": "1.5",
        "k": "800",
        "o": "",
    }
    content = viewer.get(PAGE, query).content.decode()
    assert 'name="n" inputmode="numeric"' in content
    assert 'value="40"' in content
    assert 'value="1.5"' in content
    assert 'value="800"' in content
    assert "assumed" not in content.partition("CONSISTENT_HASH</a>")[2][:60]


def test_a_missing_broker_is_named_and_its_queues_are_divided_too(
    viewer: Client, write: Write
) -> None:
    write(without_a_broker(waiting_for_locks()))
    answer = viewer.get(PAGE)
    page = text_of(answer)
    assert page.count("hz1@broker-a: no full answer since ") == 1
    found = embedded(answer, "comparison")
    assert len(found["queues"]) == 16
    assert found["complete"] is False
    assert found["missing"] == [
        {"broker": "hz1@broker-a", "state": "missing", "since": SINCE}
    ]
    rows = {row["key"]: row for row in found["rows"]}
    assert None not in rows["NOW"]["owners"]
    assert rows["AVG"]["unassigned"] == 0
    assert rows["AVG"]["by_load"]["max_over_mean"] is None
    assert all(rows["AVG"]["members"]["lag_partial"][:2])
    assert [lag for *_queue, lag, _load in found["queues"]][:8] == [None] * 8
    # Only the third member has all of its queues at the broker that answers.
    assert found["member_rate"]["value"] == 240.0
    rest = viewer.get(f"/api/v1{PAGE.rstrip('/')}").json()
    assert rest["notes"][0]["code"] == "incomplete_since"


def test_the_check_is_not_made_of_a_part(viewer: Client, write: Write) -> None:
    write(without_a_broker(waiting_for_locks()))
    assert "Not everything about the group is known" in text_of(
        viewer.get(f"{PAGE}check/")
    )
