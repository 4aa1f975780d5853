"""The pages and routes that show brokers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis
from django.test import Client

from dashboard.gateway.settings import ClusterSettings
from dashboard.live.broker_documents import BrokerState
from dashboard.live.names import brokers_key
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import NOW_MS, overview
from tests.dashboard.overview.test_pages import text_of
from tests.dashboard.reported import broker_state, brokers_document
from tests.support.valkey import Valkey

PAGE = "/clusters/hangzhou/brokers/"


@pytest.fixture
def viewer(sign_in: SignIn, write: Write, valkey: Valkey) -> Client:
    write(overview())
    document = brokers_document(
        broker_state(),
        broker_state(broker_id=1, behind_bytes=300 << 20),
        broker_state("hz2@broker-b", error="timed out", answered_at=NOW_MS - 9_000),
    )
    with redis.Redis(port=valkey.port) as client:
        client.set(brokers_key("hangzhou"), orjson.dumps(document))
    return sign_in(Role.VIEWER)


def test_a_broker_without_a_report_is_none_that_is_not_there(viewer: Client) -> None:
    base = "/api/v1/clusters/hangzhou/brokers"
    (told,) = viewer.get(f"{base}/hz2@broker-c").json()
    assert (told["name"], told["full_why"]) == ("hz2@broker-c", "never_answered")
    assert viewer.get(f"{base}/hz2@broker-z").status_code == 404


def test_name_servers_that_do_not_answer_are_not_said_to_agree(
    viewer: Client, settings: Any
) -> None:
    for servers, said in (
        (("127.0.0.1:1",), "There is one name server"),
        (("127.0.0.1:1", "127.0.0.1:2"), "so nothing could be compared."),
    ):
        away = ClusterSettings("hangzhou", servers)
        settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": away}
        assert said in text_of(viewer.get("/clusters/hangzhou/name-servers/"))


def test_the_worst_brokers_come_first_with_what_is_wrong(viewer: Client) -> None:
    page = viewer.get(PAGE)
    text = text_of(page)
    assert "Does not answer: timed out" in text
    assert "300 MiB behind its master" in text
    assert "3.25 ms" in text
    order = [row.key for row in page.context["page"].rows]
    assert order.index("hz2@broker-b/0") < order.index("hz1@broker-a/1")
    assert order[-1] == "hz1@broker-a/0"


def test_a_broker_shows_each_process_and_all_that_it_reports(viewer: Client) -> None:
    text = text_of(viewer.get(f"{PAGE}hz1@broker-a/"))
    assert "All that it reports: 21 values" in text
    assert "putMessageDistributeTime" in text
    assert "deletes by force at 85 %" in text
    assert "58.0 GiB of 100 GiB free" in text
    assert "slave 1" in text
    assert viewer.get(f"{PAGE}nobody/").status_code == 404
    fragment = viewer.get(f"{PAGE}hz1@broker-a/", headers={"X-Fragment": "1"})
    assert b"<html" not in fragment.content


def put(valkey: Valkey, *states: BrokerState) -> None:
    with redis.Redis(port=valkey.port) as client:
        client.set(brokers_key("hangzhou"), orjson.dumps(brokers_document(*states)))


def test_a_master_shows_the_slaves_that_follow_it(
    viewer: Client, valkey: Valkey
) -> None:
    page = f"{PAGE}hz1@broker-a/"
    assert "Slaves in sync — Not asked for" in text_of(viewer.get(page))
    replicas = {
        "in_sync": 1,
        "followers": [
            {"address": "10.0.0.2:51001", "behind_bytes": 2048, "in_sync": True},
            {"address": "10.0.0.3:51002", "behind_bytes": None, "in_sync": False},
        ],
    }
    put(valkey, broker_state(replicas=replicas))
    text = text_of(viewer.get(page))
    assert "Slaves in sync 1 in sync, 2 connected" in text
    assert "10.0.0.2:51001 2.0 KiB yes" in text
    assert "10.0.0.3:51002 — The slave has confirmed nothing so far no" in text
    assert "by its distance (haMaxGapNotInSync)" in text
    put(valkey, broker_state(replicas=replicas, settings={}))
    assert "is not known: the broker has not reported" in text_of(viewer.get(page))
    chosen = {"enableControllerMode": "true"}
    put(valkey, broker_state(replicas=replicas, settings=chosen))
    assert "In-sync state set" in text_of(viewer.get(page))
    put(valkey, broker_state(replicas={"in_sync": 0, "followers": []}))
    assert "No slave is connected." in text_of(viewer.get(page))
    put(valkey, broker_state(replicas_why="older_broker"))
    assert "Brokers before 5.0 do not report it" in text_of(viewer.get(page))


def test_the_list_counts_slaves_in_sync_on_request(
    viewer: Client, valkey: Valkey
) -> None:
    replicas = {"in_sync": 2, "followers": []}
    put(valkey, broker_state(replicas=replicas), broker_state(broker_id=1))
    told = viewer.get(f"{PAGE}?columns=in_sync&format=csv")
    lines = b"".join(told.streaming_content).decode()  # type: ignore[attr-defined]
    assert ",2," in lines
    assert "in_sync: is_slave" in lines


def test_a_master_says_why_it_is_behind_nobody(viewer: Client) -> None:
    page = viewer.get(f"{PAGE}?columns=behind").content.decode()
    row = page[page.index('data-key="hz1@broker-a/0"') :].partition("</tr>")[0]
    assert 'title="A master follows nobody">—' in row


def test_programs_read_the_same(viewer: Client) -> None:
    route = "/api/v1/clusters/hangzhou/brokers"
    assert len(viewer.get(route).json()["brokers"]) == 3
    master, slave = viewer.get(f"{route}/hz1@broker-a").json()
    assert master["figures"]["put_p99_ms"] == 3.25
    assert slave["behind_bytes"] == 300 << 20
    assert viewer.get(f"{route}/nobody").status_code == 404


def test_a_cluster_that_cannot_be_asked_says_so_on_the_page(
    viewer: Client, settings: Any
) -> None:
    nowhere = ClusterSettings("hangzhou", ("127.0.0.1:1",))
    settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": nowhere}
    said = text_of(viewer.get("/clusters/hangzhou/broker-settings/"))
    assert "The settings could not be read. " in said
    said = text_of(viewer.get("/clusters/hangzhou/name-servers/"))
    assert "127.0.0.1:1: Connect call failed" in said
