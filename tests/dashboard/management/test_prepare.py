"""`manage.py prepare` does what follows migrations also where there are none to run."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster

pytestmark = pytest.mark.django_db


def test_a_migrated_database_gets_the_clusters_of_the_settings(settings: Any) -> None:
    named = ClusterSettings("shanghai", ("127.0.0.1:1",))
    settings.ROCKETSCOPE_CLUSTERS = {named.name: named}
    call_command("prepare")
    assert Cluster.objects.get(configured=True).name == "shanghai"
    settings.ROCKETSCOPE_CLUSTERS = {}
    call_command("prepare")
    assert not Cluster.objects.filter(configured=True).exists()
