"""Searching all clusters, and what a mistyped address may have meant."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.dashboard.live.names_documents import put_names
from tests.dashboard.overview.test_pages import text_of
from tests.support.valkey import Valkey

HERE = "/clusters/hangzhou/"


@pytest.fixture
def viewer(sign_in: SignIn, write: Write, valkey: Valkey, settings: Any) -> Client:
    write(overview(), waiting_for_locks())
    beijing = ClusterSettings("beijing", ("10.20.7.1:9876",))
    shanghai = ClusterSettings("shanghai", ("10.20.8.1:9876",))
    settings.ROCKETSCOPE_CLUSTERS |= {"beijing": beijing, "shanghai": shanghai}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    put_names(
        valkey.port,
        "hangzhou",
        group=["order-settlement", *(f"order-{n}" for n in range(60))],
        topic=["orders", "<b>order"],
        client=["10.20.4.17@4100"],
        broker=["hz1@broker-a"],
    )
    put_names(valkey.port, "beijing", group=["order-settlement"])
    return sign_in(Role.VIEWER)


def offered(client: Client, query: str) -> str:
    answer = client.get(f"/search/?{query}", headers={"X-Fragment": "1"})
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_few_names_of_each_kind_are_offered_while_one_types(viewer: Client) -> None:
    page = offered(viewer, "q=order&in=beijing")
    assert page.count('role="option"') == 5 + 2
    assert "Groups 62" in page
    assert page.index("/clusters/beijing/groups/") < page.index(f"{HERE}groups/")
    assert f'href="{HERE}topics/%3Cb%3Eorder/"' in page
    assert "<b>order" not in page


def test_nothing_found_is_said(viewer: Client) -> None:
    assert "Nothing has “zebra” in its name." in offered(viewer, "q=zebra")
    assert "nothing has been collected yet: shanghai" in offered(viewer, "q=zebra")
    assert 'role="option"' not in offered(viewer, "q=")


def test_the_page_of_results_says_what_it_leaves_out(viewer: Client) -> None:
    text = text_of(viewer.get("/search/?q=order-"))
    assert "12 more" in text
    here = text_of(viewer.get("/search/?q=order-&in=hangzhou"))
    assert "12 more · hangzhou 11 · beijing 1" in here
    assert "nothing has been collected yet: shanghai" in text
    empty = text_of(viewer.get("/search/"))
    assert "by any part of their names" in empty


def test_a_cache_that_does_not_answer_is_said(viewer: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert "Redis does not answer." in offered(viewer, "q=order")


def test_programs_search_too(viewer: Client) -> None:
    answer = viewer.get("/api/v1/search?q=0.20.4").json()
    assert answer["counts"] == {"client": 1}
    assert answer["found"] == [
        {
            "kind": "client",
            "name": "10.20.4.17@4100",
            "cluster": "hangzhou",
            "page": f"{HERE}clients/10.20.4.17@4100/",
        }
    ]
    assert (answer["waiting"], answer["left_out"]) == (["shanghai"], 0)
    assert viewer.get("/api/v1/search?q=").status_code == 422


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("groups/order-setlement/", "groups/order-settlement/"),
        ("groups/order-setlement/offsets/", "groups/order-settlement/"),
        ("groups/orders/", "topics/orders/"),
    ],
)
def test_a_mistyped_group_is_answered_with_what_may_be_meant(
    viewer: Client, mistyped: str, meant: str
) -> None:
    answer = viewer.get(HERE + mistyped)
    assert answer.status_code == 404
    assert "Did you mean:" in text_of(answer)
    assert f'href="{HERE}{meant}"' in answer.content.decode()


def test_a_group_that_was_just_made_can_be_given_offsets(viewer: Client) -> None:
    query = "to=group&from=order-settlement&topic=orders"
    answer = viewer.get(f"{HERE}groups/order-copy/offsets/?{query}")
    assert answer.status_code == 200
    assert "Where to" in text_of(answer)


def test_a_name_that_resembles_nothing_leads_to_the_list(viewer: Client) -> None:
    answer = viewer.get(f"{HERE}groups/zebra/")
    assert answer.status_code == 404
    assert "Did you mean" not in text_of(answer)
    assert f'href="{HERE}groups/"' in answer.content.decode()


def test_programs_are_told_what_may_be_meant(viewer: Client) -> None:
    answer = viewer.get("/api/v1/clusters/hangzhou/groups/orders")
    assert answer.status_code == 404
    assert "did you mean the topic 'orders', 'order-" in answer.json()["detail"]
