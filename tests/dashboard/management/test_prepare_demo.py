from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from dashboard.gateway.settings import ClusterSettings
from dashboard.hosting.writes import add_member
from dashboard.models import ManagedGroup
from dashboard.supervisor.plan import DEMO_TOPICS

pytestmark = pytest.mark.django_db


@pytest.fixture
def embedded(settings: Any) -> None:
    cluster = ClusterSettings("embedded", ("127.0.0.1:9876",), embedded=True)
    settings.ROCKETSCOPE_CLUSTERS = {"embedded": cluster}


def prepare(*options: str) -> str:
    out = StringIO()
    call_command("prepare_demo", *options, stdout=out)
    return out.getvalue()


def test_registers_the_demos_groups(embedded: None) -> None:
    prepare()
    found = ManagedGroup.objects.order_by("pk")
    assert [(each.name, each.orderly, each.members_wanted) for each in found] == [
        ("demo-consumers", False, 1),
        ("demo-slow", False, 1),
        ("demo-orderly", True, 2),
    ]
    read = {topic["topic"] for each in found for topic in each.topics}
    assert read == set(DEMO_TOPICS)


def test_one_group_can_be_had_alone(embedded: None) -> None:
    said = prepare("--only", "demo-consumers")
    assert said == "demo-consumers added with 1 member\n"
    group = ManagedGroup.objects.get()
    assert (group.cluster.name, group.name) == ("embedded", "demo-consumers")
    assert group.topics == [{"topic": "orders", "expression": "*"}]
    assert group.members.count() == 1


def test_running_it_again_keeps_what_was_changed(embedded: None) -> None:
    prepare()
    add_member(None, "embedded", "demo-consumers")
    assert "there already" in prepare()
    assert ManagedGroup.objects.get(name="demo-consumers").members_wanted == 2


def test_without_the_embedded_cluster_there_is_no_demo(settings: Any) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {}
    with pytest.raises(CommandError, match="there is no cluster 'embedded'"):
        prepare()
