"""A real embedded cluster of two brokers, as the dashboard reaches it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import Cluster
from rmqcore.admin import Admin
from rmqcore.cluster import CLUSTER_NAME, LocalCluster
from rmqcore.model.topic import TopicConfig
from rmqcore.protocol.bodies import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfigTable,
    body_crc32,
    encode_register_broker,
)
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, connect

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

        return asyncio.run_coroutine_threadsafe(with_admin(), self.loop).result(60)

    def address(self, broker: str) -> str:
        async def ask(admin: Admin) -> str:
            (found,) = await admin.brokers(broker_name=broker)
            return str(found.master)

        return self.do(ask)

    @contextmanager
    def silent(self, name: str, topic: str) -> Iterator[None]:
        """Let the name server name a broker, with a topic, that does not answer."""

        def run(work: Coroutine[Any, Any, T]) -> T:
            return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

        async def register() -> Channel:
            channel = await connect(self.running.nameserver_address)
            configs = {each: TopicConfig(each, 1, 1) for each in (topic, "TBW102")}
            table = TopicConfigTable(configs, DataVersion())
            body = encode_register_broker(RegisterBrokerBody(table))
            fields = {
                "brokerName": name,
                "brokerAddr": "127.0.0.1:1",
                "clusterName": CLUSTER_NAME,
                "brokerId": "0",
                "haServerAddr": "",
                "bodyCrc32": str(body_crc32(body)),
            }
            code = RequestCode.REGISTER_BROKER
            answer = await channel.request(RemotingCommand.request(code, fields, body))
            assert answer.code == 0, answer.remark
            return channel

        async def leave(channel: Channel) -> None:
            await channel.close()
            async with Admin(self.running.nameserver_address) as admin:
                while name in (await admin.cluster_info()).brokers:
                    pass

        channel = run(register())
        try:
            yield
        finally:
            run(leave(channel))


@pytest.fixture(scope="module")
def running() -> Iterator[East]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

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
