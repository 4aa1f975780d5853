import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, ConnectError, StateError
from rmqcore.model import TopicRoute
from rmqcore.protocol.bodies import decode_topic_route
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.transport import parse_address

from .broker.peer import Peer


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster(brokers=2) as made:
        yield made


async def route(cluster: LocalCluster, topic: str = "T") -> TopicRoute | None:
    peer = await Peer.connected(cluster.nameserver_address)
    response = await peer.ask(Code.GET_ROUTEINFO_BY_TOPIC, {"topic": topic})
    await peer.close()
    return decode_topic_route(response.body) if response.code == 0 else None


async def test_a_topic_lives_on_every_broker(cluster: LocalCluster) -> None:
    await cluster.create_topic("T", queues=3)
    found = await route(cluster)
    assert found is not None
    addresses = {b.broker_name: b.addresses[0] for b in found.brokers}
    assert addresses == cluster.broker_addresses
    assert set(addresses) == {"broker-a", "broker-b"}
    assert len(found.publish_queues("T")) == 6
    assert {b.cluster for b in found.brokers} == {"LocalCluster"}


async def test_messages_go_in_and_out(cluster: LocalCluster) -> None:
    await cluster.create_topic("T")
    for address in cluster.broker_addresses.values():
        peer = await Peer.connected(address)
        await peer.send(body=address.encode())
        assert [m.body for m in await peer.messages()] == [address.encode()]
        await peer.close()


async def test_a_stopped_broker_leaves_the_routes(cluster: LocalCluster) -> None:
    await cluster.create_topic("T")
    await cluster.stop_broker("broker-a")
    found = await route(cluster)
    assert found is not None
    assert [b.broker_name for b in found.brokers] == ["broker-b"]
    assert set(cluster.broker_addresses) == {"broker-b"}


@pytest.mark.parametrize("ending", ["stop_broker", "kill_broker"])
async def test_a_broker_comes_back_with_its_messages(
    cluster: LocalCluster, ending: str
) -> None:
    await cluster.create_topic("T")
    address = cluster.broker_addresses["broker-a"]
    peer = await Peer.connected(address)
    await peer.send(body=b"kept")
    await peer.close()
    await getattr(cluster, ending)("broker-a")
    await cluster.start_broker("broker-a", port=parse_address(address)[1])
    assert cluster.broker_addresses["broker-a"] == address
    peer = await Peer.connected(address)
    assert [m.body for m in await peer.messages()] == [b"kept"]
    await peer.close()
    found = await route(cluster)
    assert found is not None
    assert len(found.brokers) == 2


async def test_a_given_directory_is_kept(tmp_path: Path) -> None:
    for expected in (0, 1):
        async with LocalCluster(store=tmp_path) as cluster:
            peer = await Peer.connected(cluster.broker_addresses["broker-a"])
            assert (await peer.send()).ext_fields["queueOffset"] == str(expected)
            await peer.close()


async def test_brokers_of_a_given_directory_keep_their_ports(tmp_path: Path) -> None:
    async with LocalCluster(brokers=2, store=tmp_path) as cluster:
        before = cluster.broker_addresses
        await cluster.kill_broker("broker-a")
        await cluster.start_broker("broker-a")
        assert cluster.broker_addresses == before
    async with LocalCluster(brokers=2, store=tmp_path) as cluster:
        assert cluster.broker_addresses == before


async def test_a_kept_port_that_others_use_is_given_up(tmp_path: Path) -> None:
    async with LocalCluster(store=tmp_path) as cluster:
        before = cluster.broker_addresses["broker-a"]
    with socket.create_server(parse_address(before)):
        async with LocalCluster(store=tmp_path) as cluster:
            now = cluster.broker_addresses["broker-a"]
            assert now != before
    async with LocalCluster(store=tmp_path) as cluster:
        assert cluster.broker_addresses["broker-a"] == now


@pytest.mark.parametrize("kept", ["", "no port", "70000", "-1"])
async def test_a_damaged_note_of_the_port_is_passed_over(
    tmp_path: Path, kept: str
) -> None:
    (tmp_path / "broker-a").mkdir()
    (tmp_path / "broker-a" / "port").write_text(kept)
    async with LocalCluster(store=tmp_path) as cluster:
        _, port = parse_address(cluster.broker_addresses["broker-a"])
    assert (tmp_path / "broker-a" / "port").read_text() == str(port)


async def test_a_temporary_directory_is_removed() -> None:
    async with LocalCluster() as cluster:
        directory = cluster.brokers["broker-a"].settings.store_directory
        assert directory.is_dir()
    assert not directory.parent.exists()


async def test_settings_reach_every_broker() -> None:
    async with LocalCluster(
        brokers=2, auto_create_topic=False, cluster="mine"
    ) as cluster:
        for broker in cluster.brokers.values():
            assert not broker.settings.auto_create_topic
            assert broker.settings.cluster == "mine"


@pytest.mark.parametrize("count", [0, 27])
def test_the_number_of_brokers_has_limits(count: int) -> None:
    with pytest.raises(ArgumentError, match=f"{count} brokers, allowed 1 to 26"):
        LocalCluster(brokers=count)


async def test_a_port_in_use_leaves_nothing_running(cluster: LocalCluster) -> None:
    _, port = parse_address(cluster.nameserver_address)
    second = LocalCluster(nameserver_port=port)
    with pytest.raises(ConnectError, match="in use"):
        await second.start()
    assert second.brokers == {}


async def test_brokers_are_named_when_they_do_not_run(cluster: LocalCluster) -> None:
    with pytest.raises(ArgumentError, match=r"no broker 'x' .* \['broker-a', 'broke"):
        await cluster.stop_broker("x")
    with pytest.raises(StateError, match="broker broker-a is running already"):
        await cluster.start_broker("broker-a")


async def test_clusters_do_not_meet() -> None:
    async with LocalCluster() as one, LocalCluster() as other:
        await one.create_topic("T")
        await asyncio.gather(one.create_topic("U"), other.create_topic("V"))
        assert await route(other, "T") is None
        assert await route(one, "V") is None
