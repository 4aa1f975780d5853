"""What the server sends for a group's pages: their frame, and the group's document."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from dashboard.groups import pages
from dashboard.live.documents import Overview
from dashboard.live.reading import Reading, read_overview
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    group_state,
    large_group,
    member,
    queue,
    waiting_for_locks,
)
from tests.dashboard.missing import broker_missing
from tests.dashboard.overview.test_pages import text_of

from .conftest import PAGE


def embedded(answer: Any, name: str) -> Any:
    found = re.search(
        rf'<script id="{name}"[^>]*>(.*?)</script>', answer.content.decode()
    )
    assert found is not None
    return json.loads(found[1])


def test_the_document_is_in_the_page_for_its_script(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks())
    answer = viewer.get(PAGE)
    assert embedded(answer, "state") == waiting_for_locks()
    assert embedded(answer, "page")["group"] == "order-settlement"


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
def test_consumers_are_added_by_operators_to_our_own_groups(
    sign_in: SignIn, write: Write, role: Role, managed: bool, offered: bool
) -> None:
    write(waiting_for_locks(managed=managed))
    client = sign_in(role)
    for tab in ("", "members/"):
        assert (b"data-add" in client.get(PAGE + tab).content) is offered


def test_pages_that_do_not_follow_the_group_carry_no_queue_that_is_well(
    viewer: Client, write: Write
) -> None:
    write(large_group(480, 60, group="order-settlement"))
    assert len(embedded(viewer.get(PAGE), "state")["queues"]) == 480
    assert embedded(viewer.get(PAGE + "whatif/"), "state")["queues"] == []
    state = broker_missing()
    write(state)
    told = embedded(viewer.get(PAGE + "whatif/"), "state")
    assert {queue["broker"] for queue in told["queues"]} == {"hz1@broker-a"}
    assert told["brokers"] == state["brokers"]


def test_without_scripts_a_reader_is_led_to_the_document(
    viewer: Client, write: Write
) -> None:
    write(waiting_for_locks())
    content = viewer.get(PAGE).content.decode()
    told = content.partition("<noscript>")[2].partition("</noscript>")[0]
    address = re.search(r'<a href="([^"]+)"', told)
    assert address is not None
    assert viewer.get(address[1]).json()["group"] == "order-settlement"


def test_a_group_nobody_has_seen(viewer: Client, write: Write) -> None:
    answer = viewer.get("/clusters/hangzhou/groups/nobody/")
    assert answer.status_code == 200
    assert "Nothing has been collected yet" in text_of(answer)


def test_names_with_percent_and_bar_have_a_page(viewer: Client, write: Write) -> None:
    write(waiting_for_locks(group="a%b|c"))
    answer = viewer.get("/clusters/hangzhou/groups/a%25b%7Cc/")
    assert "a%b|c" in text_of(answer)
    assert embedded(answer, "page")["group"] == "a%b|c"


def test_the_list_of_groups_is_read_once_and_for_no_fragment(
    viewer: Client, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def reading(cluster: str) -> Reading[Overview]:
        read.append(cluster)
        return read_overview(cluster)

    monkeypatch.setattr(pages, "read_overview", reading)
    state = broker_missing()
    state["totals"]["oldest_ms"] = None
    write(state)
    viewer.get(PAGE)
    assert read == ["hangzhou"]
    viewer.get(f"{PAGE}timeline/", headers={"X-Fragment": "1"})
    assert read == ["hangzhou"]
