"""A group's offsets moved on real Apache, with Java members online and without."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dashboard.gateway.asking import ask
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.offsets import Move, move_offsets
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster, OffsetChange, Role, User
from dashboard.offsets.reads import preview_of
from dashboard.offsets.wanted import Wanted
from dashboard.offsets.writes import move
from rmqcore.admin import Admin
from rmqcore.model import SubscriptionGroupConfig
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver
from tests.support.waiting import until_seen, wait_until

from .versions import OLDER_TOO

pytestmark = [pytest.mark.interop, pytest.mark.django_db, OLDER_TOO]

MESSAGES = 16
QUEUES = 16
NEW_GROUPS = 20


@pytest.fixture
def cluster(apache: ApacheCluster, settings: Any) -> ClusterSettings:
    made = ClusterSettings("apache", (apache.nameserver,), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"apache": made}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return made


def consumed(cluster: ClusterSettings, group: str, topic: str) -> int:
    """Return what `mqadmin consumerProgress` sums up: the offsets of code 208."""

    async def work(admin: Admin) -> int:
        masters = await admin.topic_masters(topic)
        stats = [
            await admin.consume_stats(group, address, topic)
            for address in masters.values()
            if address is not None
        ]
        return sum(each.consumer_offset for part in stats for each in part.values())

    return ask(cluster, work)


def reset(group: str, query: str) -> OffsetChange:
    wanted = Wanted.from_query(query)
    user, _made = User.objects.get_or_create(username="ann", role=Role.OPERATOR)
    return move(
        user,
        Cluster.objects.get(name="apache"),
        group,
        wanted,
        token=preview_of("apache", group, wanted).plan.token,
        reason="test",
        confirm=group,
    )


def test_java_members_start_again_where_they_are_put(
    cluster: ClusterSettings, java: JavaDriver, name: str
) -> None:
    ask(cluster, lambda admin: admin.create_topic(name, 2))
    java.produce(name, MESSAGES)
    java.start_consumer(name, group=name, topic=name)
    java.wait_until(lambda: len(java.messages(name)) >= MESSAGES)
    wait_until(lambda: consumed(cluster, name, name) == MESSAGES)

    change = reset(name, f"to=earliest&topic={name}")
    assert change.online is True
    assert not [each for each in change.rows if each["problem"]]
    java.wait_until(lambda: len(java.messages(name)) >= 2 * MESSAGES)
    wait_until(lambda: consumed(cluster, name, name) == MESSAGES)

    java.stop_consumer(name)
    wait_until(
        lambda: (
            preview_of(
                "apache", name, Wanted.from_query(f"to=earliest&topic={name}")
            ).online
            is False
        )
    )
    change = reset(name, f"to=earliest&topic={name}")
    assert {each["stood"] for each in change.rows} == {0}
    assert consumed(cluster, name, name) == 0
    reset(name, f"to=undo&of={change.pk}&topic={name}")
    assert consumed(cluster, name, name) == MESSAGES


async def test_no_offset_is_lost_that_a_new_group_is_given(
    cluster: ClusterSettings, admin: Admin, name: str
) -> None:
    """Apache's broker loses one of two first commits of a topic that come at once."""
    for broker in ("broker-a", "broker-b"):
        await admin.create_topic(name, QUEUES, broker_name=broker)
    masters = await until_seen(
        lambda: admin.topic_masters(name), lambda found: len(found) == 2
    )
    moves = [
        Move(broker, str(address), queue, 0, "committed")
        for broker, address in masters.items()
        for queue in range(QUEUES)
    ]
    for number in range(NEW_GROUPS):
        group = f"{name}-{number}"
        await admin.create_group(SubscriptionGroupConfig(group))
        wrong = await asyncio.to_thread(move_offsets, cluster, group, name, moves)
        assert not wrong
        assert await committed(admin, group, name) == [0] * QUEUES * len(masters)


async def committed(admin: Admin, group: str, topic: str) -> list[int | None]:
    found = [
        await admin.queue_places(group, topic, str(address))
        for address in (await admin.topic_masters(topic)).values()
    ]
    return [place.committed for places in found for place in places.values()]
