"""The pages and routes that preview a move, make it and show what stands."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from django.test import Client

from dashboard.gateway.offsets import Standing
from dashboard.models import OffsetChange, Role
from dashboard.offsets import reads
from dashboard.offsets.pages import FOLLOWED
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of

from .conftest import East

PAGE = "/clusters/east/groups/billing/offsets/"
API = "/api/v1/clusters/east/groups/billing/offsets"


@pytest.fixture
def operator(sign_in: SignIn, east: East) -> Client:
    east.commit(6)
    return sign_in(Role.OPERATOR)


def fields(client: Client, query: str) -> dict[str, str]:
    content = client.get(f"{PAGE}?{query}").content.decode()
    form = content.partition("offsets/apply/")[2].partition("</form>")[0]
    found = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
    query = found["query"].replace("&amp;", "&")
    return {**found, "query": query, "reason": "CHG-7", "confirm": "billing"}


def test_a_preview_says_what_is_seen_again_and_gives_the_same_line(
    operator: Client, east: East
) -> None:
    page = text_of(operator.get(f"{PAGE}?to=earliest&topic=orders"))
    assert "Queues that move 4 of 4" in page
    assert "Seen again 24" in page
    assert "The group is offline." in page
    assert "broker-a / 0 6 0" in page
    assert (
        f"mqadmin resetOffsetByTime -n {east.cluster.nameserver_address} -g billing "
        "-t orders -s 0"
    ) in page
    assert "Reset 4 queues" in page
    assert east.committed() == [6, 6, 6, 6]


def test_a_preview_says_what_is_skipped_for_ever(operator: Client) -> None:
    page = text_of(operator.get(f"{PAGE}?to=latest&topic=orders&queue=broker-a/2"))
    assert "Skipped for good 4 1 queue, most in broker-a / 2" in page
    assert "4 skipped" in page
    assert re.search(r"-b 127\.0\.0\.1:\d+ -q 2 -o 10", page)


def test_it_is_made_watched_and_undone(operator: Client, east: East) -> None:
    given = fields(operator, "to=earliest&topic=orders")
    answer = operator.post(f"{PAGE}apply/", given)
    made = OffsetChange.objects.get()
    assert answer["Location"] == f"{PAGE}{made.pk}/"
    page = text_of(operator.get(answer["Location"]))
    assert "4 as asked" in page
    assert "broker-a / 0 6 0 0 0 stands as asked" in page
    part = operator.get(answer["Location"], headers={"X-Fragment": "1"})
    assert "<html" not in part.content.decode()
    assert "data-active" in part.content.decode()
    OffsetChange.objects.update(at=made.at - FOLLOWED)
    part = operator.get(answer["Location"], headers={"X-Fragment": "1"})
    assert "data-active" not in part.content.decode()
    undo = fields(operator, f"to=undo&topic=orders&of={made.pk}")
    operator.post(f"{PAGE}apply/", undo)
    assert east.committed() == [6, 6, 6, 6]


def test_moves_that_are_not_listed_are_counted(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator.post(f"{PAGE}apply/", fields(operator, "to=earliest&topic=orders"))
    made = OffsetChange.objects.get()
    made.pk = None
    made.save()
    assert "are listed" not in text_of(operator.get(PAGE))
    monkeypatch.setattr(reads, "CHANGES_SHOWN", 1)
    page = text_of(operator.get(PAGE))
    assert "The newest 1 of 2 are listed." in page


def test_a_refusal_keeps_the_reason(operator: Client) -> None:
    given = fields(operator, "to=earliest&topic=orders") | {"confirm": "bill"}
    answer = operator.post(f"{PAGE}apply/", given)
    assert answer.status_code == 409
    assert "Type the group's name" in text_of(answer)
    assert 'value="CHG-7"' in answer.content.decode()


def test_ten_minutes_ago_becomes_an_address_that_stays(operator: Client) -> None:
    answer = operator.get(f"{PAGE}?to=time&topic=orders&ago=600")
    assert re.fullmatch(
        rf"{re.escape(PAGE)}\?to=time&topic=orders&at=\d{{13}}", answer["Location"]
    )


def test_a_cluster_that_does_not_know_the_topic_is_said(operator: Client) -> None:
    page = text_of(operator.get(f"{PAGE}?to=earliest&topic=nothing"))
    assert "nothing" in page
    assert "Reset" in page


def test_a_preview_is_a_file_too(operator: Client) -> None:
    answer = operator.get(f"{PAGE}?to=earliest&topic=orders&format=csv")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "broker,queue_id,committed,after,again,skipped,note,unknown"
    assert lines[1] == "broker-a,0,6,0,6,0,,"


def test_a_viewer_sees_the_preview_and_no_button(
    operator: Client, sign_in: SignIn
) -> None:
    viewer = sign_in(Role.VIEWER)
    page = text_of(viewer.get(f"{PAGE}?to=earliest&topic=orders"))
    assert "Moving offsets needs the role of an operator." in page
    assert viewer.post(f"{PAGE}apply/").status_code == 403


def test_programs_preview_move_and_undo(operator: Client, east: East) -> None:
    query = "to=earliest&topic=orders"
    plan = operator.get(f"{API}?{urlencode({'query': query})}").json()
    assert (plan["again"], plan["moving"], plan["online"]) == (24, 4, False)
    body = {"query": query, "token": plan["token"], "reason": "x", "confirm": "billing"}
    made = operator.post(API, body, content_type="application/json")
    assert made.status_code == 201
    assert {each["state"] for each in made.json()["queues"]} == {"stands"}
    address = f"{API}/{made.json()['id']}"
    assert operator.get(address).json()["queues"][0]["now"] == 0
    undone = operator.post(
        f"{address}/undo",
        {"reason": "x", "confirm": "billing"},
        content_type="application/json",
    )
    assert undone.json()["undo_of"] == made.json()["id"]
    assert east.committed() == [6, 6, 6, 6]


def test_offsets_on_a_static_topic_are_not_moved(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "dashboard.offsets.reads.read_standing",
        lambda *_: Standing((), {}, static=True),
    )
    page = text_of(operator.get(f"{PAGE}?to=earliest&topic=orders"))
    assert "“orders” is a static topic: its brokers keep a group" in page
    assert not OffsetChange.objects.exists()
