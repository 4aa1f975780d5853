from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
import redis
from django.test import Client

from dashboard.live.names import topics_key
from dashboard.live.topic_documents import TopicRow
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import NOW_MS, now_ms, overview, waiting_for_locks
from tests.support.valkey import Valkey

from .topic_documents import BROKERS, broker, topic_group, topic_row, topics

LIST = "/clusters/hangzhou/topics/"


@pytest.fixture
def viewer(sign_in: SignIn, write: Write, valkey: Valkey) -> Client:
    write(overview(), waiting_for_locks())
    with redis.Redis(port=valkey.port) as client:
        client.set(topics_key("hangzhou"), orjson.dumps(topics(*made())))
    return sign_in(Role.VIEWER)


def made() -> list[TopicRow]:
    hot = {"broker": BROKERS[0], "queue_id": 2, "share": 0.4, "since": NOW_MS}
    away = broker(
        BROKERS[1], 4, reason="no_answer", as_of=NOW_MS - 40_000, rate=[None] * 4
    )
    now = now_ms()
    return [
        topic_row("audit-log", quiet_since=now),
        topic_row(
            "invoices",
            status={"level": "crit", "word": "no_consumer"},
            message_type="FIFO",
            groups=[topic_group("pdf", reads=False, level="crit", word="no_members")],
            quiet_since=now,
        ),
        topic_row("old", rate_in=0.0, quiet_since=0),
        topic_row(
            "orders",
            status={"level": "warn", "word": "hot_queue"},
            hot=[hot],
            skew=5.0,
            quiet_since=now,
        ),
        topic_row(
            "prices",
            status={"level": "unk", "word": "half_known"},
            brokers=[broker(BROKERS[0], 4), away],
            rate_partial=True,
            rate_in=20.0,
            skew=None,
            held=None,
            quiet_since=now,
        ),
        topic_row("TBW102", kind="system", status={"level": "ok", "word": "healthy"}),
        topic_row("team/sales", groups=[], group_count=0, quiet_since=now),
        topic_row("x" * 255, quiet_since=now),
    ]


def text_of(answer: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def test_the_worst_topics_come_first_and_chips_say_how_many_they_hide(
    viewer: Client,
) -> None:
    answer = viewer.get(LIST)
    names = re.findall(r'<tr data-key="([^"]+)"', answer.content.decode())
    assert names[:3] == ["invoices", "orders", "prices"]
    assert {"old", "TBW102"}.isdisjoint(names)
    page = text_of(answer)
    assert "SYSTEM 1 hidden" in page
    assert "Idle 1 hidden" in page
    assert "No consumer invoices FIFO 4 + 4 40" in page
    assert "≥ 20" in page
    assert "TBW102" in text_of(viewer.get(f"{LIST}?with=system,idle"))


def test_the_file_has_what_the_page_shows(viewer: Client) -> None:
    answer = viewer.get(f"{LIST}?format=csv&show=FIFO&columns=in,skew")
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "state,topic,in,skew,unknown"
    assert lines[1].startswith("No consumer,invoices,40.0,1.0")
    assert len(lines) == 2


def test_a_hot_queue_and_its_owners_are_seen_on_the_topics_page(
    viewer: Client,
) -> None:
    answer = viewer.get(f"{LIST}orders/")
    html = answer.content.decode()
    assert html.count('class="share hot"') == 1
    assert "slot-1" in html
    assert "Hot queue" in text_of(answer)


def test_old_values_are_striped_with_their_time(viewer: Client) -> None:
    html = viewer.get(f"{LIST}prices/").content.decode()
    assert html.count('class="share striped"') == 4
    assert "as of" in html
    assert "No answer in time" in html


@pytest.mark.parametrize("name", ["team/sales", "x" * 255])
def test_any_name_opens_and_is_read_over_rest(viewer: Client, name: str) -> None:
    place = name.replace("/", "%252F")
    page = viewer.get(f"{LIST}{place}/")
    assert page.status_code == 200
    assert page.context["row"]["topic"] == name
    told = viewer.get(f"/api/v1/clusters/hangzhou/topics/{place}")
    assert told.json()["topic"] == name


def test_a_topic_that_nobody_lists_is_said_to_be_none(viewer: Client) -> None:
    assert "No topic “ordres” was seen" in text_of(viewer.get(f"{LIST}ordres/"))
    told = viewer.get("/api/v1/clusters/hangzhou/topics/ordres")
    assert told.status_code == 404
    assert "ordres" in told.json()["detail"]


def test_the_list_is_a_document_over_rest_and_a_fragment_for_its_script(
    viewer: Client,
) -> None:
    document = viewer.get("/api/v1/clusters/hangzhou/topics").json()
    assert [row["topic"] for row in document["topics"]][:2] == ["audit-log", "invoices"]
    part = viewer.get(LIST, headers={"X-Fragment": "1"}).content.decode()
    assert part.lstrip().startswith('<div class="page-head"')
    assert "data-meta" in part


def test_a_cluster_that_does_not_answer_is_told_on_the_page(viewer: Client) -> None:
    page = text_of(viewer.get(f"{LIST}orders/configuration/"))
    assert "The cluster did not tell." in page


def test_an_old_document_of_a_group_is_not_drawn_as_now(
    viewer: Client, valkey: Valkey
) -> None:
    address = f"{LIST}orders/"
    said = "Its queues are collected when its page is open."
    before = viewer.get(address).content.decode().count(said)
    later = topics(*made())
    later["taken_at"] += 31_000
    with redis.Redis(port=valkey.port) as client:
        client.set(topics_key("hangzhou"), orjson.dumps(later))
    assert viewer.get(address).content.decode().count(said) == before + 1
