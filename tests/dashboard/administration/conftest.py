"""A real embedded cluster of two brokers, as the dashboard reaches it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster
from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster

T = TypeVar("T")


@dataclass
class East:
    """The cluster called `east`, which runs in a thread of its own."""

    running: LocalCluster
    loop: asyncio.AbstractEventLoop

    @property
    def cluster(self) -> Cluster:
        return Cluster.objects.get(name="east")

    def do(self, work: Callable[[Admin], Coroutine[Any, Any, T]]) -> T:
        """Do something with an admin client of rmqcore, as another tool would."""

        async def with_admin() -> T:
            async with Admin(self.running.nameserver_address) as admin:
                return await work(admin)

        return asyncio.run_coroutine_threadsafe(with_admin(), self.loop).result(20)

    def address(self, broker: str) -> str:
        async def ask(admin: Admin) -> str:
            (found,) = await admin.brokers(broker_name=broker)
            return str(found.master)

        return self.do(ask)


@pytest.fixture(scope="module")
def running() -> Iterator[East]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(20)

    async def start() -> LocalCluster:
        return await LocalCluster(brokers=2).__aenter__()

    cluster = run(start())
    yield East(cluster, loop)
    run(cluster.__aexit__(None, None, None))
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture
def east(running: East, db: None, settings: Any) -> East:
    """The cluster, open to writing; tests use names of their own."""
    servers = (running.running.nameserver_address,)
    configured = ClusterSettings("east", servers, writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"east": configured}
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return running
