from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
import redis
from django.test import Client

from dashboard.gateway.producers import Producers
from dashboard.gateway.topic_questions import TopicAnswers
from dashboard.live.broker_documents import untold
from dashboard.live.names import brokers_key, group_key, topics_key
from dashboard.live.topic_documents import TopicBroker, TopicRow
from dashboard.models import Role
from rmqcore.model import LogicQueueMappingItem, TopicQueueMapping, TopicRoute
from rmqcore.model.mapping import LogicalPiece
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import (
    NOW_MS,
    looked_at,
    now_ms,
    overview,
    waiting_for_locks,
)
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
        topic_row(
            "returns", groups=[], group_count=0, groups_known=False, quiet_since=now
        ),
        topic_row("team/sales", groups=[], group_count=0, quiet_since=now),
        topic_row("x" * 255, quiet_since=now),
    ]


def keep(valkey: Valkey, hours: str) -> None:
    """Let both brokers have reported for how many hours they keep messages."""
    states = [
        {
            **untold(name, "DefaultCluster", 0, "10.0.0.1:10911", why=None),
            "settings": {"fileReservedTime": hours, "deleteWhen": "04"},
        }
        for name in BROKERS
    ]
    document = {"cluster": "hangzhou", "taken_at": NOW_MS, "brokers": states}
    with redis.Redis(port=valkey.port) as client:
        client.set(brokers_key("hangzhou"), orjson.dumps(document))


def waiting(hours: float) -> list[TopicBroker]:
    age = {"oldest_ms": round(hours * 3_600_000), "partial": False, "lost": False}
    return [broker(each, 4, unread=age) for each in BROKERS]


def test_sums_over_all_topics_stand_above_the_list(
    viewer: Client, valkey: Valkey
) -> None:
    page = text_of(viewer.get(f"{LIST}?show=FIFO"))
    assert "Topics ≥ 8 and 1 system topic" in page
    assert "Need a look ≥ 2 1 without a consumer" in page
    assert "In ≥ 260 /s prices: partly known" in page
    assert "Dead letters ≥ 0" in page
    assert "Idle ≥ 1 no message for 24 h" in page


def test_the_time_until_unread_messages_are_deleted_is_in_the_list_and_on_the_page(
    viewer: Client, valkey: Valkey, write: Write
) -> None:
    write(looked_at())
    keep(valkey, "72")
    rows = topics(
        topic_row("calm", brokers=waiting(1), quiet_since=now_ms()),
        topic_row("late", brokers=waiting(67), quiet_since=now_ms()),
        topic_row("read", brokers=waiting(0), quiet_since=now_ms()),
    )
    with redis.Redis(port=valkey.port) as client:
        client.set(topics_key("hangzhou"), orjson.dumps(rows))
    listed = viewer.get(f"{LIST}?sort=retention")
    assert re.findall(r'<tr data-key="([^"]+)"', listed.content.decode()) == [
        "late",
        "calm",
        "read",
    ]
    page = text_of(listed)
    assert "Shortest retention 5 h 00 m late" in page
    assert "2 d 23 h" in page
    assert "Every group has read all messages" in page
    assert (
        "Retention left 5 h 00 m hz1@broker-a keeps 3 d 0 h (deleteWhen 04)"
    ) in text_of(viewer.get(f"{LIST}late/"))
    told = viewer.get(f"{LIST}?format=csv&columns=retention")
    lines = b"".join(told.streaming_content).decode()  # type: ignore[attr-defined]
    assert f"late,{5 * 3_600_000}," in lines
    assert "retention: Every group has read all messages" in lines
    api = "/api/v1/clusters/hangzhou/topics"
    late, (calm, _, read) = (
        viewer.get(f"{api}/late").json()["retention"],
        [each["retention"] for each in viewer.get(api).json()["topics"]],
    )
    assert late == {
        "ms": 5 * 3_600_000,
        "unknown": None,
        "cause": "age",
        "broker": BROKERS[0],
    }
    assert calm["ms"] == 71 * 3_600_000
    assert read == {
        "ms": None,
        "unknown": "nothing_unread",
        "cause": None,
        "broker": None,
    }
    write(overview())  # of three brokers, one is silent
    page = text_of(viewer.get(LIST))
    assert "Shortest retention at most 5 h 00 m late · No answer in time" in page


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
    assert lines[0] == "state,topic,in,skew,unknown,at_least"
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


def test_no_group_is_said_to_read_a_topic_only_where_all_are_known(
    viewer: Client,
) -> None:
    sure, unsure = (
        text_of(viewer.get(f"{LIST}{name}/")) for name in ("team%252Fsales", "returns")
    )
    assert "No group reads this topic." in sure
    assert "Hurt" not in sure
    assert "No group online reads it." in sure
    assert unsure.count("Whether a group reads this topic is not known now.") == 3
    assert "≥ 0 — Whether a group reads this topic" in text_of(viewer.get(LIST))


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


def test_a_topic_that_nobody_lists_is_said_to_be_none(
    viewer: Client, write: Write
) -> None:
    page = viewer.get(f"{LIST}ordres/")
    assert "Not known: hz2@broker-c does not answer in full." in text_of(page)
    write(looked_at())
    page = viewer.get(f"{LIST}ordres/")
    assert page.status_code == 404
    assert "No broker of this cluster lists it." in text_of(page)
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
    assert "The cluster did not answer." in page


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
    with redis.Redis(port=valkey.port) as client:
        client.delete(group_key("hangzhou", "order-settlement"))
        client.lpush(group_key("hangzhou", "order-settlement"), "a list")
    assert viewer.get(address).content.decode().count(said) == before + 1


def test_a_static_topics_route_says_where_each_logical_queue_is_and_was(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = LogicalPiece(LogicQueueMappingItem(0, 3, "broker-a", 0), 12, 40)
    new = LogicalPiece(LogicQueueMappingItem(1, 5, "broker-b", 10_000), 0, 7)
    untold = LogicalPiece(LogicQueueMappingItem(1, 6, "broker-b", None), None, None)
    mapping = TopicQueueMapping("orders", "broker-b", 3, current={0: 5})
    answers = TopicAnswers(
        TopicRoute((), (), mappings={"broker-b": mapping}),
        {},
        Producers((), {}),
        {},
        {0: (old, new), 1: (old, untold), 2: ()},
    )
    monkeypatch.setattr("dashboard.topics.pages.ask_topic", lambda *_: answers)
    page = text_of(viewer.get(f"{LIST}orders/configuration/"))
    assert "Logical queues This is a static topic" in page
    assert "0 broker-b 5 10,000 10,007 0 7 takes messages" in page
    assert "0 broker-a 3 0 40 12 40 moved away" in page
    assert "1 broker-b 6 — Not known — Not known" in page
    assert "being moved here" in page
    assert "2 No broker that answered has it." in page


def test_other_topics_have_no_part_about_logical_queues(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = TopicAnswers(TopicRoute((), ()), {}, Producers((), {}), {})
    monkeypatch.setattr("dashboard.topics.pages.ask_topic", lambda *_: answers)
    page = text_of(viewer.get(f"{LIST}orders/configuration/"))
    assert "Logical queues" not in page
