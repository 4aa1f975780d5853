"""The pages and routes of clients."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import orjson
import pytest
import redis
from django.test import Client

from dashboard.live.names import clients_key
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import looked_at, overview
from tests.dashboard.overview.test_pages import text_of
from tests.dashboard.reported import client_group, client_row, clients_document
from tests.support.valkey import Valkey

STRANGE = "10.20.4.17@a b#c/d"
PLAIN = "10.20.4.18@4101"
PAGE = "/clusters/hangzhou/clients/"


@pytest.fixture
def viewer(sign_in: SignIn, write: Write, valkey: Valkey) -> Client:
    write(overview())
    rows = [client_row(STRANGE, version="V4_9_7"), client_row(PLAIN)]
    document = clients_document(client_group("order-settlement", *rows))
    with redis.Redis(port=valkey.port) as client:
        client.set(clients_key("hangzhou"), orjson.dumps(document))
    return sign_in(Role.VIEWER)


def address_of(client_id: str) -> str:
    encoded = quote(client_id.replace("/", "%2F"), safe="@")
    return f"{PAGE}{encoded}/"


def test_clients_with_a_note_come_first(viewer: Client) -> None:
    page = viewer.get(PAGE)
    text = text_of(page)
    assert "4.9.7 in “order-settlement”, which has members of 5.3.1" in text
    rows = [row.client_id for row in page.context["page"].rows]
    assert rows == [STRANGE, PLAIN]
    only = viewer.get(PAGE, {"show": "old"}).context["page"].rows
    assert [row.client_id for row in only] == [STRANGE]
    older = text_of(viewer.get(PAGE, {"older": "6.0.0"}))
    assert "5.3.1 is older than 6.0.0" in older


def test_a_host_that_no_broker_lists_has_its_reason(
    viewer: Client, valkey: Valkey
) -> None:
    document = clients_document(
        client_group("order-settlement", client_row(PLAIN, address=None))
    )
    with redis.Redis(port=valkey.port) as client:
        client.set(clients_key("hangzhou"), orjson.dumps(document))
    page = viewer.get(address_of(PLAIN)).content.decode()
    assert page.count('title="The broker does not list this">—') == 2


def test_links_of_the_table_keep_the_release_that_counts_as_old(viewer: Client) -> None:
    page = viewer.get(PAGE, {"older": "6.0.0", "show": "old"}).content.decode()
    assert "?older=6.0.0&amp;sort=" in page or "?older=6.0.0&amp;show=old" in page
    assert '<input type="hidden" name="older" value="6.0.0">' in page
    other = viewer.get(PAGE, {"older": "new"}).content.decode()
    assert 'type="hidden" name="older"' not in other


def test_the_filters_offer_the_releases_that_may_count_as_old(viewer: Client) -> None:
    def menu(**asked: str) -> str:
        return viewer.get(PAGE, asked).content.decode().partition('class="menu-box')[2]

    assert (
        '<label>Old before <select name="older"><option value="">4.9.0</option>'
        "<option>4.9.7</option><option>5.3.1</option></select></label>"
    ) in menu()
    picked = menu(older="6.0.0", show="old")
    assert "<option selected>6.0.0</option>" in picked
    assert '<a class="button button-small" href="?show=old">Clear</a>' in picked
    assert (
        "Filters · 1</summary>" in viewer.get(PAGE, {"older": "6.0.0"}).content.decode()
    )


def test_an_id_of_any_characters_opens_its_page(viewer: Client) -> None:
    assert address_of(STRANGE) in viewer.get(PAGE).content.decode()
    text = text_of(viewer.get(address_of(STRANGE)))
    assert STRANGE in text
    assert "Subscribes to" in text
    assert "Operators can also take its thread stacks." in text
    assert viewer.get(address_of("nobody")).status_code == 404


def test_a_client_may_be_there_while_a_broker_is_silent(
    viewer: Client, write: Write
) -> None:
    unsure = "Not known: hz2@broker-c does not answer in full."
    assert unsure in text_of(viewer.get(address_of("nobody")))
    write(looked_at())
    assert "“nobody” is in no group now." in text_of(viewer.get(address_of("nobody")))


def test_the_list_is_a_file_and_a_fragment(viewer: Client) -> None:
    answer: Any = viewer.get(PAGE, {"format": "csv"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("client,notes,language,version,host,groups,queues")
    fragment = viewer.get(PAGE, headers={"X-Fragment": "1"}).content.decode()
    assert "<html" not in fragment
    assert "data-meta" in fragment


def test_programs_read_the_same(viewer: Client) -> None:
    listed = viewer.get("/api/v1/clusters/hangzhou/clients").json()
    assert [each["client_id"] for each in listed] == [STRANGE, PLAIN]
    encoded = quote(STRANGE.replace("/", "%2F"), safe="")
    one = viewer.get(f"/api/v1/clusters/hangzhou/clients/{encoded}").json()
    assert one["connections"][0]["group"] == "order-settlement"
    assert one["notes"] == ["4.9.7 in “order-settlement”, which has members of 5.3.1"]
    missing = viewer.get("/api/v1/clusters/hangzhou/clients/nobody")
    assert missing.status_code == 404


def test_a_cluster_that_cannot_be_asked_says_so_on_the_page(
    viewer: Client, settings: Any
) -> None:
    from dashboard.gateway.settings import ClusterSettings

    nowhere = ClusterSettings("hangzhou", ("127.0.0.1:1",))
    settings.ROCKETSCOPE_CLUSTERS = {"hangzhou": nowhere}
    said = text_of(viewer.get(f"{address_of(PLAIN)}running/", {"group": "g"}))
    assert "The client could not be asked. " in said
    assert "127.0.0.1:1" in said
    assert "The brokers could not be asked." in text_of(
        viewer.get("/clusters/hangzhou/producers/")
    )
