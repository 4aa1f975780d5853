from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    BROKERS,
    group_state,
    large_group,
    lock_finding,
    member,
    queue,
    shared_client_ids,
    waiting_for_locks,
)
from tests.dashboard.overview.test_pages import text_of

PAGE = "/clusters/hangzhou/groups/order-settlement/"


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def embedded(answer: Any, name: str) -> Any:
    found = re.search(
        rf'<script id="{name}"[^>]*>(.*?)</script>', answer.content.decode()
    )
    assert found is not None
    return json.loads(found[1])


def test_the_page_says_who_holds_what_and_what_waits(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks())
    page = text_of(viewer.get(PAGE))
    assert "No owner 4 of 16 queues" in page
    assert "12 owned · 4 waiting" in page
    assert "161,898" in page
    assert "AVG · reported by 3 of 3" in page
    assert "hz2@broker-b / 4 No owner expects C 7,916" in page
    assert "hz1@broker-a / 6 B 10.20.4.18 reported 128,440" in page


def test_the_document_is_in_the_page_for_its_script(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks())
    answer = viewer.get(PAGE)
    assert embedded(answer, "state") == waiting_for_locks()
    assert embedded(answer, "page")["group"] == "order-settlement"
    assert embedded(answer, "catalog")["status"]["no_owner"] == "No owner"


def test_names_cannot_break_out_of_the_page(viewer: Client, write: Write) -> None:
    evil = "</script><script>alert(1)</script>"
    state = group_state(
        [member(0, label=evil)], [queue(evil, 0, owners=[member(0)["client_id"]])]
    )
    write(state)
    content = viewer.get(PAGE).content.decode()
    assert "<script>alert" not in content


@pytest.mark.parametrize(
    ("role", "managed", "offered"),
    [
        (Role.VIEWER, True, False),
        (Role.OPERATOR, True, True),
        (Role.ADMIN, True, True),
        (Role.ADMIN, False, False),
    ],
)
def test_consumers_are_added_and_removed_by_operators_in_our_own_groups(
    sign_in: SignIn, write: Write, role: Role, managed: bool, offered: bool
) -> None:
    state = waiting_for_locks(managed=managed)
    state["members"][1]["managed"] = True
    write(state)
    client = sign_in(role)
    assert (b"data-add" in client.get(PAGE).content) is offered
    # Other members of the same group run elsewhere: nobody here can stop them.
    members = client.get(f"{PAGE}members/").content
    assert members.count(b"data-remove=") == int(offered)


def test_members_are_listed_with_what_they_report(viewer: Client, write: Write) -> None:
    state = waiting_for_locks()
    state["members"][2].update(
        idle="no_queues", strategy=None, language=None, version=None
    )
    write(state)
    page = text_of(viewer.get(f"{PAGE}members/"))
    assert (
        "A 10.20.4.17 10.20.4.17@4100#88012345678901 10.20.4.17:51234 6 1,528" in page
    )
    assert "orders * JAVA 5.3.1" in page
    assert "idle: the strategy gives it no queue" in page


def test_connections_of_one_client_id_are_members_of_their_own(
    viewer: Client, write: Write
) -> None:
    write(shared_client_ids())
    answer = viewer.get(f"{PAGE}members/")
    page, client_id = text_of(answer), member(0)["client_id"]
    assert f"10.20.4.17 · connection 1 of 2 {client_id} 10.20.4.17:51234 2 200 " in page
    assert f"10.20.4.17 · connection 2 of 2 {client_id} 10.20.4.17:51999 2 200 " in page
    keys = re.findall(r'<tr data-key="([^"]+)"', answer.content.decode())
    assert len(set(keys)) == len(keys) == 3


@pytest.mark.parametrize(
    ("kind", "queues", "lag"),
    [
        ("shared_pop", "Queues of this group have no single owner", None),
        ("mixed", "Members report different values", None),
        ("assigned_by_hand", "Not asked for", None),
        ("broadcasting", "1", "Kept in files of the members"),
    ],
)
def test_members_without_queues_of_their_own_claim_none(
    viewer: Client, write: Write, kind: str, queues: str, lag: str | None
) -> None:
    held = queue(BROKERS[0], 0, owners=[member(0)["client_id"]])
    write(group_state([member(0)], [held], kind=kind))
    row = viewer.get(f"{PAGE}members/").content.decode().partition("<tbody>")[2]
    cells = row.split("</td>")
    assert queues in cells[2]
    for cell in cells[3:5]:
        assert (lag or queues) in cell


def test_queues_assigned_by_hand_are_counted_where_members_told(
    viewer: Client, write: Write
) -> None:
    one = member(0, reported_at=1_700_000_000_000)
    held = queue(BROKERS[0], 0, owners=[one["client_id"]])
    write(group_state([one], [held], kind="assigned_by_hand"))
    assert "10.20.4.17:51234 1 100" in text_of(viewer.get(f"{PAGE}members/"))


@pytest.mark.parametrize("kind", ["shared_pop", "assigned_by_hand", "offline"])
def test_groups_without_single_owners_are_explained_and_not_blamed(
    viewer: Client, write: Write, kind: str
) -> None:
    queues = [queue(BROKERS[0], n, owner_source=None) for n in range(4)]
    members = [] if kind == "offline" else [member(0)]
    write(group_state(members, queues, kind=kind))
    page = text_of(viewer.get(PAGE))
    sentence = {
        "shared_pop": "members share every queue (POP)",
        "assigned_by_hand": "assigned their queues by hand",
        "offline": "Nobody is online in this group",
    }[kind]
    assert sentence in page
    assert "waiting" not in page


def test_an_unknown_lag_carries_its_reason(viewer: Client, write: Write) -> None:
    one = queue(BROKERS[0], 0, lag=None, unknown={"lag": "nothing_committed"})
    write(group_state([member(0)], [one]))
    content = viewer.get(PAGE).content.decode()
    assert 'title="The group has never committed an offset for this queue">—' in content


def test_a_large_group_shows_its_worst_rows_first(viewer: Client, write: Write) -> None:
    write(large_group(480, 60, group="order-settlement"))
    content = viewer.get(PAGE).content.decode()
    assert content.count("<tr data-key=") == 100
    assert "Show all 480 queues" in content
    assert len(embedded(viewer.get(PAGE), "state")["queues"]) == 480


def test_a_group_nobody_has_seen(viewer: Client, write: Write) -> None:
    answer = viewer.get("/clusters/hangzhou/groups/nobody/")
    assert answer.status_code == 200
    assert "Nothing has been collected yet" in text_of(answer)


def test_names_with_percent_and_bar_have_a_page(viewer: Client, write: Write) -> None:
    write(waiting_for_locks(group="a%b|c"))
    answer = viewer.get("/clusters/hangzhou/groups/a%25b%7Cc/")
    assert "a%b|c" in text_of(answer)
    assert embedded(answer, "page")["group"] == "a%b|c"


def test_findings_stand_beside_the_map(viewer: Client, write: Write) -> None:
    finding = lock_finding(["orders|hz1@broker-a|4"])
    write(waiting_for_locks(findings=[finding]))
    page = text_of(viewer.get(PAGE))
    assert "Findings 1 Queues wait for a lock to expire since " in page
    assert "10.20.4.19@11 is gone and did not release its locks" in page
    assert "Waiting for 42 s" in page
    assert "within 80 s" in page


def test_without_findings_their_panel_is_hidden(viewer: Client, write: Write) -> None:
    write(waiting_for_locks())
    panel = viewer.get(PAGE).content.decode().partition('id="findings"')[2]
    assert "hidden" in panel.partition(">")[0]
