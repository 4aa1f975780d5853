"""The pages and routes that show brokers."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis
from django.test import Client

from dashboard.gateway.settings import ClusterSettings
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
