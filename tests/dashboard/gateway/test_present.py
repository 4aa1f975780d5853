"""The clusters there are: those of the settings, and those attached on a page."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.gateway.clusters import (
    announce_embedded,
    encryption_of,
    forget_embedded,
    sync_clusters,
)
from dashboard.gateway.present import cluster_now, clusters_now
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster

pytestmark = pytest.mark.django_db

EAST = ClusterSettings("east", ("h:1",))


@pytest.fixture(autouse=True)
def one_of_the_settings(settings: Any) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {"east": EAST}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)


def attached(name: str, **changes: Any) -> Cluster:
    given = {"name_servers": ["h:2"], "attached": True, **changes}
    return Cluster.objects.create(name=name, **given)


def test_an_attached_cluster_is_there_at_once_and_gone_at_once() -> None:
    row = attached("west")
    assert list(clusters_now()) == ["east", "west"]
    found = cluster_now("west")
    assert found is not None
    assert (found.name_servers, found.read_only) == (("h:2",), True)
    row.attached = row.configured = False
    row.save()
    assert list(clusters_now()) == ["east"]
    assert cluster_now("west") is None
    assert row.why_read_only == "Cluster “west” is no longer configured."


def test_a_cluster_that_is_open_to_writing_says_no_reason() -> None:
    assert attached("west", writes=True).why_read_only == ""
    assert "attached read-only" in attached("south").why_read_only


def test_the_settings_win_over_what_the_database_holds() -> None:
    Cluster.objects.filter(name="east").update(
        attached=True, writes=True, name_servers=["evil:1"]
    )
    assert clusters_now() == {"east": EAST}
    assert cluster_now("east") == EAST


def test_keys_and_encryption_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROCKETSCOPE_CLUSTER_WEST_ACCESS_KEY", "me")
    monkeypatch.setenv("ROCKETSCOPE_CLUSTER_WEST_SECRET_KEY", "hush")
    monkeypatch.setenv("ROCKETSCOPE_CLUSTER_WEST_TLS", "on")
    monkeypatch.setenv("ROCKETSCOPE_CLUSTER_WEST_WRITES", "off")
    attached("west", writes=True)
    found = cluster_now("west")
    assert found is not None
    assert (found.access_key, found.secret_key) == ("me", "hush")
    assert (found.encryption, found.read_only) == ("verified", True)
    assert encryption_of("west") == "verified"


def test_a_cluster_whose_settings_are_faulty_is_left_out_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ROCKETSCOPE_CLUSTER_WEST_ACCESS_KEY", "me")
    attached("west")
    assert list(clusters_now()) == ["east"]
    assert "cluster=west is left out" in caplog.text


def test_bringing_the_settings_in_line_leaves_attached_clusters() -> None:
    attached("west")
    sync_clusters({})
    assert list(Cluster.objects.filter(configured=True)) == [
        Cluster.objects.get(name="west")
    ]
    sync_clusters({"west": ClusterSettings("west", ("h:3",))})
    west = Cluster.objects.get(name="west")
    assert (west.attached, west.name_servers) == (False, ["h:3"])


def test_the_embedded_cluster_is_announced_and_forgotten() -> None:
    announce_embedded(["127.0.0.1:9876"])
    found = cluster_now("embedded")
    assert found is not None
    assert (found.embedded, found.read_only) == (True, False)
    forget_embedded()
    assert cluster_now("embedded") is None
