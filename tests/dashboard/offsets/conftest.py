"""An embedded cluster beside a test, with members that come and go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from dashboard.gateway.asking import ask
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster
from rmqcore.admin import Admin
from rmqcore.client import ConsumeContext, ConsumeResult, PushConsumer
from rmqcore.cluster import LocalCluster
from rmqcore.loop_thread import LoopThread
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.topic import SubscriptionGroupConfig
from tests.support.cluster import TOPIC, local_cluster, produce, settings_of

GROUP = "billing"
Listener = Callable[[Sequence[MessageExt], ConsumeContext], Awaitable[ConsumeResult]]


class East:
    """A cluster of four queues with forty messages, and the group `billing`."""

    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop
        self._running: AbstractAsyncContextManager[LocalCluster] = local_cluster(4)
        self.cluster = loop.call(self._running.__aenter__())
        self.settings: ClusterSettings = settings_of(self.cluster)
        loop.call(produce(self.cluster, 40))
        self.ask_create(GROUP)

    def ask_create(self, group: str) -> None:
        async def create(admin: Admin) -> None:
            await admin.create_group(SubscriptionGroupConfig(group))

        ask(self.settings, create)

    def commit(self, offset: int, group: str = GROUP) -> None:
        """Commit the offset on every queue."""

        async def work(admin: Admin) -> None:
            for queue_id in range(4):
                queue = MessageQueue(TOPIC, "broker-a", queue_id)
                await admin.commit_offset(group, queue, offset)

        ask(self.settings, work)

    def committed(self, group: str = GROUP) -> list[int]:
        async def work(admin: Admin) -> list[int]:
            return list((await admin.committed_offsets(group, TOPIC)).values())

        return ask(self.settings, work)

    def join(self, listener: Listener) -> PushConsumer:
        """Start a member of the group."""
        return self._loop.call(self._join(listener))

    async def _join(self, listener: Listener) -> PushConsumer:
        address = self.cluster.nameserver_address
        member = PushConsumer(address, group=GROUP, listener=listener)
        member.subscribe(TOPIC)
        await member.start()
        return member

    def leave(self, member: PushConsumer) -> None:
        self._loop.call(member.shutdown())

    def close(self) -> None:
        self._loop.call(self._running.__aexit__(None, None, None))


@pytest.fixture
def east(db: None, settings: Any) -> Iterator[East]:
    """The cluster `east`, open to writing."""
    loop = LoopThread("east")
    loop.start()
    made = East(loop)
    settings.ROCKETSCOPE_CLUSTERS = {"east": made.settings}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    yield made
    made.close()
    loop.stop()


@pytest.fixture
def row(east: East) -> Cluster:
    return Cluster.objects.get(name="east")
