from __future__ import annotations

import pytest
from django.core.management import call_command

from dashboard.gateway.clusters import log_unverified, sync_clusters
from dashboard.gateway.settings import ClientTls, ClusterSettings
from dashboard.models import Cluster

pytestmark = pytest.mark.django_db

EAST = ClusterSettings("east", ("h:1", "h:2"))


def test_named_clusters_are_added_and_updated() -> None:
    sync_clusters({"east": ClusterSettings("east", ("old:1",))})
    sync_clusters(
        {"east": EAST, "embedded": ClusterSettings("embedded", ("h:3",), embedded=True)}
    )
    east, embedded = Cluster.objects.all()
    assert east.name_servers == ["h:1", "h:2"]
    assert (east.embedded, embedded.embedded) == (False, True)


def test_a_cluster_no_longer_named_stays_and_is_marked() -> None:
    sync_clusters({"east": EAST})
    sync_clusters({})
    assert not Cluster.objects.get().configured
    sync_clusters({"east": EAST})
    assert Cluster.objects.get().configured


def test_migrating_brings_the_table_in_line(settings: object) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {"east": EAST}  # type: ignore[attr-defined]
    call_command("migrate", verbosity=0)
    assert [str(cluster) for cluster in Cluster.objects.all()] == ["east"]


def test_only_what_is_not_verified_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    found = {
        name: ClusterSettings(name, ("h:1",), tls=tls)
        for name, tls in {
            "plain": None,
            "good": ClientTls(),
            "bad": ClientTls(verify=False),
        }.items()
    }
    log_unverified(found)
    (line,) = caplog.messages
    assert line.startswith("cluster=bad TLS is not verified")
