"""What name servers hear of a broker; the name server is the real one."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.model import TopicConfig
from rmqcore.nameserver import NameServer
from rmqcore.protocol.bodies import DataVersion
from rmqcore.protocol.codes import RequestCode
from rmqcore.transport import ManualClock

from .peer import Peer


@pytest.fixture
async def nameserver(clock: ManualClock) -> AsyncIterator[NameServer]:
    server = NameServer(clock=clock)
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
def settings(tmp_path: Path, nameserver: NameServer) -> BrokerSettings:
    return BrokerSettings(
        tmp_path / "store", segment_bytes=1 << 20, name_servers=(nameserver.address,)
    )


def known(nameserver: NameServer) -> set[str]:
    return set(nameserver.state.routes.topics())


def registered(nameserver: NameServer, broker: Broker) -> DataVersion | None:
    cluster = broker.settings.cluster
    return nameserver.state.routes.version_of(cluster, broker.address)


async def until_known(nameserver: NameServer, topic: str) -> None:
    while topic not in known(nameserver):
        await asyncio.sleep(0)


async def test_a_started_broker_is_registered(
    broker: Broker, nameserver: NameServer
) -> None:
    (data,) = nameserver.state.routes.brokers().values()
    assert (data.cluster, data.broker_name) == ("DefaultCluster", "broker-a")
    assert data.addresses == {0: broker.address}
    assert known(nameserver) == set(broker.state.topics.all)


async def test_a_new_topic_is_told_soon(
    broker: Broker, nameserver: NameServer, peer: Peer
) -> None:
    await peer.send("new")
    await until_known(nameserver, "new")
    await peer.heartbeat("new")
    await until_known(nameserver, "%RETRY%g")


async def test_a_deletion_is_answered_when_no_older_table_is_under_way(
    broker: Broker, nameserver: NameServer, peer: Peer
) -> None:
    await peer.send("old")
    await until_known(nameserver, "old")
    await peer.send("new")
    await peer.ask(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "old"})
    # What is deleted at the name server now stays deleted.
    assert registered(nameserver, broker) == broker.state.topics.version


async def test_a_table_is_read_when_it_is_sent(
    broker: Broker, nameserver: NameServer
) -> None:
    registration = broker._registration
    # The next request has to connect first, which takes several turns of the loop.
    await registration._pool.discard(nameserver.address)
    told = asyncio.create_task(registration.register())
    await asyncio.sleep(0)
    broker.state.topics.put(TopicConfig("late", 4, 4), 1)
    assert await told == 1
    assert registered(nameserver, broker) == broker.state.topics.version
    assert "late" in known(nameserver)


async def test_registrations_are_renewed(
    broker: Broker, nameserver: NameServer, clock: ManualClock
) -> None:
    for _ in range(8):
        await clock.advance(30)
        # An answered request shows that the broker's own one has been answered.
        peer = await Peer.connected(nameserver.address)
        await peer.ask(0)
        await peer.close()
    assert known(nameserver)


async def test_a_name_server_that_forgot_is_told_again(
    broker: Broker, nameserver: NameServer, clock: ManualClock
) -> None:
    assert len(nameserver.state.routes.expire(1 << 60)) == 1
    assert known(nameserver) == set()
    await clock.advance(30)
    await until_known(nameserver, "TBW102")


async def test_a_stopped_broker_is_forgotten_at_once(
    settings: BrokerSettings, nameserver: NameServer, clock: ManualClock
) -> None:
    broker = Broker(settings, clock=clock)
    await broker.start()
    await broker.stop()
    assert nameserver.state.routes.brokers() == {}


async def test_a_killed_broker_is_forgotten_with_its_connection(
    settings: BrokerSettings, nameserver: NameServer, clock: ManualClock
) -> None:
    broker = Broker(settings, clock=clock)
    await broker.start()
    await broker.kill()
    while nameserver.state.routes.brokers():
        await asyncio.sleep(0)


async def test_an_unreachable_name_server_holds_up_nobody(
    tmp_path: Path, nameserver: NameServer, caplog: pytest.LogCaptureFixture
) -> None:
    settings = BrokerSettings(
        tmp_path / "other", name_servers=("127.0.0.1:1", nameserver.address)
    )
    broker = Broker(settings)
    with caplog.at_level(logging.WARNING):
        await broker.start()
    assert "nameserver=127.0.0.1:1 request 103 failed" in caplog.text
    assert set(broker.state.topics.all) == known(nameserver)
    await broker.stop()


async def test_the_advertised_host_is_registered(
    tmp_path: Path, nameserver: NameServer
) -> None:
    settings = BrokerSettings(
        tmp_path / "other",
        name_servers=(nameserver.address,),
        advertised_host="127.0.0.9",
    )
    broker = Broker(settings)
    await broker.start()
    (data,) = nameserver.state.routes.brokers().values()
    assert data.addresses == {0: broker.address}
    assert broker.address.startswith("127.0.0.9:")
    await broker.stop()


async def test_topics_of_an_earlier_run_are_registered(
    settings: BrokerSettings, nameserver: NameServer
) -> None:
    broker = Broker(settings)
    await broker.start()
    broker.state.topics.put(TopicConfig("kept", 3, 3), 0)
    await broker.stop()
    broker = Broker(settings)
    await broker.start()
    assert "kept" in known(nameserver)
    await broker.stop()
