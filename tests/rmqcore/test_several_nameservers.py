"""Two name servers, two brokers, and clients that know both name servers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.broker import Broker, BrokerSettings
from rmqcore.client import Producer
from rmqcore.model import Message, TopicConfig
from rmqcore.nameserver import NameServer
from rmqcore.transport import ManualClock, parse_address
from tests.support.waiting import until


class Site:
    """Name servers and brokers that are started and ended one by one."""

    def __init__(self, stack: AsyncExitStack, store: Path) -> None:
        self.clock = ManualClock()
        self.nameservers: list[NameServer] = []
        self._stack = stack
        self._store = store

    @property
    def addresses(self) -> str:
        return ";".join(server.address for server in self.nameservers)

    async def nameserver(self, port: int = 0) -> NameServer:
        server = NameServer(clock=self.clock, port=port)
        await server.start()
        self._stack.push_async_callback(server.stop)
        return server

    async def broker(self, name: str) -> Broker:
        settings = BrokerSettings(
            self._store / name,
            name=name,
            segment_bytes=1 << 20,
            name_servers=tuple(server.address for server in self.nameservers),
        )
        broker = Broker(settings, clock=self.clock)
        await broker.start()
        return broker

    def known(self, topic: str = "T") -> list[set[str]]:
        """Return the addresses of a topic, as each name server tells them."""
        routes = (server.state.routes.route(topic) for server in self.nameservers)
        return [
            set() if route is None else {str(b.master) for b in route.brokers}
            for route in routes
        ]


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        made = Site(stack, tmp_path)
        made.nameservers = [await made.nameserver() for _ in range(2)]
        yield made


@pytest.fixture
async def brokers(site: Site) -> AsyncIterator[list[Broker]]:
    made = [await site.broker(name) for name in ("broker-a", "broker-b")]
    for broker in made:
        broker.state.topics.put(TopicConfig("T", 2, 2), 0)
        broker.state.topics_changed()
        await broker.state.register_now()
    yield made
    for broker in made:
        await broker.stop()


async def test_every_name_server_knows_every_broker(
    site: Site, brokers: list[Broker]
) -> None:
    everyone = {broker.address for broker in brokers}
    assert site.known() == [everyone, everyone]


async def test_clients_go_on_with_the_name_server_that_is_left(
    site: Site, brokers: list[Broker]
) -> None:
    producer = Producer(site.addresses, group="p")
    async with Admin(site.addresses) as admin, producer:
        await producer.send(Message("T", b"1"))
        await site.nameservers[0].stop()
        await producer.send(Message("T", b"2"))
        # A topic that nobody has asked for yet needs a name server.
        await admin.create_topic("N", 1)
        await producer.send(Message("N", b"3"))
        assert "N" in await admin.topic_names()


async def test_a_name_server_that_comes_back_is_told_everything(
    site: Site, brokers: list[Broker]
) -> None:
    _, port = parse_address(site.nameservers[0].address)
    await site.nameservers[0].stop()
    site.nameservers[0] = await site.nameserver(port)
    everyone = {broker.address for broker in brokers}
    assert site.known() == [set(), everyone]
    await site.clock.advance(30)
    await until(lambda: site.known() == [everyone, everyone])


async def test_a_broker_leaves_and_comes_back_elsewhere(
    site: Site, brokers: list[Broker]
) -> None:
    gone, stays = brokers
    await gone.kill()
    await until(lambda: site.known() == [{stays.address}] * 2)
    back = brokers[0] = await site.broker("broker-a")
    assert back.address != gone.address
    everyone = {back.address, stays.address}
    assert site.known() == [everyone, everyone]
    await back.stop()
    assert site.known() == [{stays.address}] * 2
    brokers[0] = await site.broker("broker-a")


async def test_a_broker_that_falls_silent_is_forgotten_after_120_s(
    site: Site, brokers: list[Broker]
) -> None:
    silent, talks = brokers
    # Its connections stay open, as those of a frozen process do.
    await silent._stop_timers()
    for _ in range(4):
        await site.clock.advance(30)
        await until(lambda: not _unanswered(talks))
    assert len(site.known()[0]) == 2
    await site.clock.advance(10)
    assert site.known() == [{talks.address}] * 2


def _unanswered(broker: Broker) -> bool:
    """Tell whether a registration is still on its way."""
    channels = broker._pool._channels.values()
    return any(channel.open_requests for channel in channels)
