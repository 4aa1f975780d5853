from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dashboard.gateway.connections import (
    ClusterConnection,
    credentials_of,
    request_hooks,
    tls_of,
)
from dashboard.gateway.settings import ClientTls, ClusterSettings
from rmqcore.broker import Broker, BrokerSettings
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ConnectError
from rmqcore.nameserver import NameServer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ServerTls
from tests.support.certificates import loopback_certificate
from tests.support.cluster import TOPIC, join, local_cluster, produce, settings_of
from tests.support.ports import free_port
from tests.support.waiting import until_seen


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with local_cluster() as cluster:
        yield cluster


@pytest.fixture
async def connection(cluster: LocalCluster) -> AsyncIterator[ClusterConnection]:
    connection = ClusterConnection(settings_of(cluster))
    yield connection
    await connection.close()


async def test_sees_members_without_asking_them(
    cluster: LocalCluster, connection: ClusterConnection
) -> None:
    consumer = await join(cluster, "one")
    group = (await connection.snapshot()).groups["billing"]
    assert [member.client_id for member in group.members] == ["10.0.0.1@one"]
    assert group.members[0].queues is None
    await consumer.shutdown()


async def test_asked_members_say_what_they_hold(
    cluster: LocalCluster, connection: ClusterConnection
) -> None:
    consumer = await join(cluster, "one")
    await until_seen(lambda: held(connection), lambda count: count == 16)
    await consumer.shutdown()


async def held(connection: ClusterConnection) -> int:
    group = (await connection.groups({"billing"})).groups["billing"]
    held = [key for member in group.members for key in member.queues or ()]
    return sum(topic == TOPIC for topic, _broker, _queue_id in held)


async def test_reading_writes_nothing(
    cluster: LocalCluster, connection: ClusterConnection
) -> None:
    await produce(cluster, 3)
    before = await connection.snapshot()
    await connection.groups({"made up"})
    after = await connection.snapshot()
    assert set(after.topics) == set(before.topics)
    assert set(after.groups) == set(before.groups)


async def test_names_the_brokers(connection: ClusterConnection) -> None:
    assert await connection.broker_names() == ["broker-a"]


async def test_an_unreachable_name_server_is_named() -> None:
    address = f"127.0.0.1:{free_port()}"
    connection = ClusterConnection(ClusterSettings("east", (address,)))
    with pytest.raises(ConnectError, match=address):
        await connection.snapshot()
    await connection.close()


def test_plain_clusters_have_neither_tls_nor_keys() -> None:
    plain = ClusterSettings("east", ("h:1",), writes=True)
    assert tls_of(plain) is None
    assert credentials_of(plain) is None
    assert request_hooks(plain) == ()


@asynccontextmanager
async def name_server(tls: ServerTls) -> AsyncIterator[NameServer]:
    server = NameServer(tls=tls)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def test_why_a_broker_is_not_believed_is_its_error(tmp_path: Path) -> None:
    known, unknown = (loopback_certificate(tmp_path / name)[:2] for name in "ab")
    async with name_server(ServerTls(*known)) as server:
        settings = BrokerSettings(
            tmp_path, name_servers=(server.address,), port=0, tls=ServerTls(*unknown)
        )
        broker = Broker(settings)
        await broker.start()
        connection = ClusterConnection(
            ClusterSettings("east", (server.address,), tls=ClientTls(ca=known[0]))
        )
        (seen,) = (await connection.snapshot()).brokers
        await connection.close()
        await broker.stop()
        assert not seen.answered
        assert str(seen.error).startswith(f"{broker.address}: unknown CA: expected")


async def test_why_a_name_server_is_not_believed_is_told(tmp_path: Path) -> None:
    ours, theirs = (loopback_certificate(tmp_path / name)[:2] for name in "ab")
    async with name_server(ServerTls(*theirs)) as server:
        connection = ClusterConnection(
            ClusterSettings("east", (server.address,), tls=ClientTls(ca=ours[0]))
        )
        with pytest.raises(ConnectError, match="unknown CA: expected one of"):
            await connection.snapshot()
        await connection.close()


def test_members_of_one_cluster_share_what_it_believes() -> None:
    cluster = ClusterSettings("east", ("h:1",), tls=ClientTls())
    context = tls_of(cluster)
    assert context is not None
    assert context.check_hostname
    assert tls_of(cluster) is context


def test_requests_are_signed_with_the_clusters_keys() -> None:
    cluster = ClusterSettings(
        "east", ("h:1",), access_key="ak", secret_key="sk", writes=True
    )
    (sign,) = request_hooks(cluster)
    command = RemotingCommand.request(34, {"clientID": "c"}, b"body")
    sign("h:1", command)
    credentials = credentials_of(cluster)
    assert credentials is not None
    assert credentials.verify(command.ext_fields, b"body")
    assert command.ext_fields["AccessKey"] == "ak"
