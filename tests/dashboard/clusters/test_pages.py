"""The page of all clusters, and those to attach one and to remove it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client

from dashboard.gateway.present import cluster_now
from dashboard.live.names import overview_key
from dashboard.models import AuditEntry, Cluster, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import looked_at, overview_row
from tests.dashboard.overview.test_pages import text_of
from tests.support.valkey import Valkey

ALL = "/clusters/"


@pytest.fixture
def two(write: Write, hangzhou: object) -> None:
    """A cluster with trouble, and one that was attached and is calm."""
    Cluster.objects.create(name="west", name_servers=["h:1"], attached=True)
    write(looked_at(), looked_at(cluster="west", groups=[overview_row("calm")]))


@pytest.mark.usefixtures("two")
def test_all_clusters_are_listed_worst_first(sign_in: SignIn) -> None:
    page = text_of(sign_in(Role.VIEWER).get(ALL))
    assert page.index("Needs a look") < page.index("no group needs a look")
    assert "order-settlement: No owner" in page
    assert "Worst groups" in page
    assert "Attach a cluster" not in page
    assert "Remove…" not in page


@pytest.mark.usefixtures("two")
def test_several_clusters_lead_to_the_page_of_all_and_one_to_itself(
    sign_in: SignIn,
) -> None:
    viewer = sign_in(Role.VIEWER)
    assert viewer.get("/")["Location"] == ALL
    Cluster.objects.filter(name="west").delete()
    assert viewer.get("/")["Location"] == "/clusters/hangzhou/"


@pytest.mark.usefixtures("two")
def test_the_list_wakes_with_every_cluster_and_is_a_fragment(sign_in: SignIn) -> None:
    answer = sign_in(Role.VIEWER).get(ALL, headers={"X-Fragment": "1"})
    assert b'data-names="hangzhou west"' in answer.content
    assert b"<html" not in answer.content


@pytest.mark.usefixtures("two")
def test_the_list_is_a_file_with_reasons_for_what_is_unknown(
    sign_in: SignIn, write: Write
) -> None:
    write(looked_at(cluster="west", error="refused"))
    answer: Any = sign_in(Role.VIEWER).get(ALL, {"format": "csv"})
    head, first, second = answer.getvalue().decode().splitlines()
    assert head.startswith("state,cluster,what,groups,look,lag")
    assert first.startswith("look,hangzhou,")
    assert second.startswith("unreachable,west,")
    assert "lag: Nothing is known since" in second
    assert "brokers: Nothing is known since" in second
    assert first.endswith(",groups; look; lag")


@pytest.mark.usefixtures("two")
def test_brokers_of_a_cluster_whose_state_is_old_are_not_called_silent(
    sign_in: SignIn, write: Write
) -> None:
    write(looked_at(cluster="west", error="refused"))
    page = text_of(sign_in(Role.VIEWER).get(ALL, {"q": "west"}))
    assert re.search(r"— Nothing is known since [\d:]+\. of 2 ", page)


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("stored", ["{}", '{"brokers": [1]}', None])
def test_what_is_no_overview_costs_only_its_own_cluster(
    sign_in: SignIn, valkey: Valkey, stored: str | None
) -> None:
    with redis.Redis(port=valkey.port) as client:
        client.delete(overview_key("west"))
        if stored is None:
            client.lpush(overview_key("west"), "a list")
        else:
            client.set(overview_key("west"), stored)
    page = text_of(sign_in(Role.VIEWER).get(ALL))
    assert "order-settlement: No owner" in page
    assert "Not collected yet" in page


@pytest.mark.usefixtures("hangzhou")
def test_a_cache_that_is_away_is_told_and_nothing_is_called_healthy(
    sign_in: SignIn,
) -> None:
    page = text_of(sign_in(Role.VIEWER).get(ALL))
    assert "The current state cannot be read" in page
    assert "Healthy" not in page


def test_without_a_cluster_the_page_offers_both_ways_to_get_one(
    sign_in: SignIn, valkey: Valkey, tmp_path: Path, settings: Any
) -> None:
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = str(tmp_path / "wanted")
    admin = sign_in(Role.ADMIN)
    page = text_of(admin.get("/", follow=True))
    assert "No cluster yet" in page
    assert "Test connection" in page
    assert "Start the embedded cluster" in page
    assert "ROCKETSCOPE_CLUSTERS=" in page
    answer = admin.post("/embedded/", {"next": "/labs/"})
    assert answer["Location"] == "/labs/"
    assert "It is being started" in text_of(admin.get("/labs/"))
    assert "It is being started" in text_of(admin.get(ALL))


def test_a_viewer_is_told_who_can_attach_one(sign_in: SignIn, valkey: Valkey) -> None:
    page = text_of(sign_in(Role.VIEWER).get(ALL))
    assert "An admin can attach one." in page
    assert "Test connection" not in page


def test_one_comes_back_only_to_pages_of_this_server(
    sign_in: SignIn, valkey: Valkey, tmp_path: Path, settings: Any
) -> None:
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = str(tmp_path / "wanted")
    operator = sign_in(Role.OPERATOR)
    answer = operator.post("/embedded/", {"next": "https://evil.example/"})
    assert answer["Location"] == ALL


@pytest.mark.usefixtures("hangzhou")
def test_an_address_is_tested_before_anything_is_attached(sign_in: SignIn) -> None:
    admin = sign_in(Role.ADMIN)
    answer = admin.post("/attach/", {"name_servers": "127.0.0.1:1", "test": "on"})
    assert "Refused: nothing listens at this port." in text_of(answer)
    assert not Cluster.objects.filter(attached=True).exists()
    assert AuditEntry.objects.get().action == "cluster.test"
    answer = admin.post("/attach/", {"name_servers": "nonsense", "test": "on"})
    assert answer.status_code == 422
    assert "is not host:port" in text_of(answer)


@pytest.mark.usefixtures("hangzhou")
def test_a_cluster_is_attached_shown_and_removed(
    sign_in: SignIn, valkey: Valkey
) -> None:
    admin = sign_in(Role.ADMIN)
    wish = {"name": "west", "name_servers": "127.0.0.1:1\n127.0.0.1:2"}
    page = text_of(admin.post("/attach/", wish, follow=True))
    assert "“west” is attached" in page
    assert "Not collected yet" in page
    assert "Remove…" in page
    found = cluster_now("west")
    assert found is not None
    assert found.name_servers == ("127.0.0.1:1", "127.0.0.1:2")
    address = "/clusters/west/remove/"
    answer = admin.post(address, {"confirm": "no", "reason": "moved"})
    assert answer.status_code == 409
    page = text_of(
        admin.post(address, {"confirm": "west", "reason": "moved"}, follow=True)
    )
    assert "“west” is removed." in page
    assert cluster_now("west") is None


@pytest.mark.usefixtures("hangzhou")
def test_the_page_says_why_a_cluster_of_the_settings_stays(sign_in: SignIn) -> None:
    page = sign_in(Role.ADMIN).get("/clusters/hangzhou/remove/")
    assert "it can be removed only there" in text_of(page)
    assert b"disabled" in page.content


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
@pytest.mark.usefixtures("hangzhou")
def test_nobody_but_admins_learns_what_listens_where(
    sign_in: SignIn, role: Role
) -> None:
    client: Client = sign_in(role)
    wish = {"name": "west", "name_servers": "127.0.0.1:1", "test": "on"}
    for answer in (
        client.get("/attach/"),
        client.post("/attach/", wish),
        client.post("/clusters/hangzhou/remove/", {"confirm": "hangzhou"}),
    ):
        assert answer.status_code == 403
    assert not AuditEntry.objects.exists()
