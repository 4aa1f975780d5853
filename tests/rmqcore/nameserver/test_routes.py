import pytest

from rmqcore.model import Perm, QueueData, TopicConfig
from rmqcore.nameserver.routes import BrokerIdentity, RouteTable
from rmqcore.protocol.bodies import DataVersion

A = BrokerIdentity("c", "broker-a", 0, "10.0.0.1:10911")
A_SLAVE = BrokerIdentity("c", "broker-a", 1, "10.0.0.2:10911")
B = BrokerIdentity("c", "broker-b", 0, "10.0.0.3:10911")
V1 = DataVersion(timestamp=1)
V2 = DataVersion(timestamp=2)


def topics(*names: str, queues: int = 4) -> dict[str, TopicConfig]:
    return {name: TopicConfig(name, queues, queues) for name in ("sys", *names)}


def register(
    table: RouteTable,
    identity: BrokerIdentity = A,
    *names: str,
    version: DataVersion = V1,
    queues: int = 4,
    channel: object = "channel",
    now_ms: int = 0,
    expiry_ms: int | None = None,
) -> bool:
    return table.register(
        identity,
        topics(*names, queues=queues),
        version,
        channel=channel,
        now_ms=now_ms,
        ha_address=f"ha-{identity.address}",
        expiry_ms=expiry_ms,
    )


@pytest.fixture
def table() -> RouteTable:
    return RouteTable()


def write_queues(table: RouteTable, topic: str) -> dict[str, int]:
    route = table.route(topic)
    assert route is not None
    return {data.broker_name: data.write_queue_nums for data in route.queues}


def test_an_unknown_topic_has_no_route(table: RouteTable) -> None:
    register(table)
    assert table.route("T") is None


def test_a_route_names_brokers_and_queues(table: RouteTable) -> None:
    register(table, A, "T")
    register(table, A_SLAVE, "T")
    register(table, B, "T", queues=8)
    route = table.route("T")
    assert route is not None
    assert {b.broker_name: b.addresses for b in route.brokers} == {
        "broker-a": {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"},
        "broker-b": {0: "10.0.0.3:10911"},
    }
    assert write_queues(table, "T") == {"broker-a": 4, "broker-b": 8}
    assert table.clusters() == {"c": ["broker-a", "broker-b"]}
    assert sorted(table.topics()) == ["T", "sys"]


def test_a_first_registration_of_one_topic_is_refused(table: RouteTable) -> None:
    assert not register(table, A)
    assert table.brokers() == {}
    assert register(table, A, "T")
    assert register(table, A, version=V2)


def test_queues_change_only_with_the_version(table: RouteTable) -> None:
    register(table, A, "T", queues=4)
    register(table, A, "T", queues=8)
    assert write_queues(table, "T") == {"broker-a": 4}
    register(table, A, "T", queues=8, version=V2)
    assert write_queues(table, "T") == {"broker-a": 8}


def test_a_new_topic_is_taken_without_a_new_version(table: RouteTable) -> None:
    register(table, A, "T")
    register(table, A, "T", "U")
    assert write_queues(table, "U") == {"broker-a": 4}


def test_a_topic_that_is_left_out_stays(table: RouteTable) -> None:
    register(table, A, "T", "U")
    register(table, A, "T", version=V2)
    assert table.route("U") is not None


def test_a_broker_that_comes_back_brings_its_queues(table: RouteTable) -> None:
    register(table, A, "T", queues=4)
    table.unregister(A)
    assert table.route("T") is None
    register(table, A, "T", queues=8)
    assert write_queues(table, "T") == {"broker-a": 8}


def test_a_broker_at_a_new_address_replaces_the_old(table: RouteTable) -> None:
    register(table, A, "T", queues=4)
    moved = BrokerIdentity("c", "broker-a", 0, "10.0.0.9:1")
    register(table, moved, "T", queues=8)
    assert table.brokers()["broker-a"].addresses == {0: "10.0.0.9:1"}
    assert write_queues(table, "T") == {"broker-a": 8}
    table.unregister(A)
    assert table.brokers()["broker-a"].addresses == {0: "10.0.0.9:1"}


def test_a_slave_that_becomes_master_leaves_its_id(table: RouteTable) -> None:
    register(table, A, "T")
    register(table, A_SLAVE, "T")
    table.unregister(A)
    register(table, BrokerIdentity("c", "broker-a", 0, A_SLAVE.address), "T")
    assert table.brokers()["broker-a"].addresses == {0: A_SLAVE.address}


def test_a_slave_learns_its_master(table: RouteTable) -> None:
    register(table, A_SLAVE, "T")
    assert table.master_of(A_SLAVE) is None
    register(table, A, "T")
    assert table.master_of(A_SLAVE) == ("10.0.0.1:10911", "ha-10.0.0.1:10911")
    assert table.master_of(A) is None


def test_a_slave_brings_no_queues(table: RouteTable) -> None:
    register(table, A_SLAVE, "T")
    assert table.route("T") is None


def test_queues_stay_while_an_address_is_left(table: RouteTable) -> None:
    register(table, A, "T")
    register(table, A_SLAVE, "T")
    table.unregister(A)
    route = table.route("T")
    assert route is not None
    assert route.brokers[0].master is None
    table.unregister(A_SLAVE)
    assert (table.route("T"), table.clusters(), table.topics()) == (None, {}, [])


def test_a_silent_broker_expires_after_120_s(table: RouteTable) -> None:
    register(table, A, "T", now_ms=0)
    register(table, B, "T", now_ms=1)
    assert table.expire(120_000) == []
    assert table.expire(120_001) == [A]
    assert list(table.brokers()) == ["broker-b"]


def test_a_broker_may_ask_for_another_expiry(table: RouteTable) -> None:
    register(table, A, "T", now_ms=0, expiry_ms=10_000)
    assert table.expire(10_000) == []
    assert table.expire(10_001) == [A]


def test_registering_and_heartbeats_renew(table: RouteTable) -> None:
    register(table, A, "T", now_ms=0)
    register(table, B, "T", now_ms=0)
    register(table, A, "T", now_ms=60_000)
    table.renew("c", B.address, 60_000)
    table.renew("c", "unknown:1", 60_000)
    assert table.expire(180_000) == []
    assert set(table.expire(180_001)) == {A, B}


def test_a_lost_connection_ends_its_registrations(table: RouteTable) -> None:
    register(table, A, "T", channel="one")
    register(table, B, "T", channel="two")
    assert table.channel_closed("one") == [A]
    assert table.channel_closed("one") == []
    assert list(table.brokers()) == ["broker-b"]


def test_a_registration_over_a_new_connection_outlives_the_old(
    table: RouteTable,
) -> None:
    register(table, A, "T", channel="one")
    register(table, A, "T", channel="two")
    assert table.channel_closed("one") == []
    assert table.route("T") is not None


def test_versions_are_told(table: RouteTable) -> None:
    register(table, A, "T", version=V2)
    assert table.version_of("c", A.address) == V2
    assert table.version_of("other", A.address) is None


def test_topics_are_deleted_in_one_cluster_or_all(table: RouteTable) -> None:
    elsewhere = BrokerIdentity("d", "broker-d", 0, "10.0.0.4:1")
    register(table, A, "T")
    register(table, elsewhere, "T")
    table.delete_topic("T", "d")
    assert write_queues(table, "T") == {"broker-a": 4}
    assert table.topics_of_cluster("d") == ["sys"]
    table.delete_topic("T", "unknown")
    table.delete_topic("T")
    table.delete_topic("T")
    assert table.route("T") is None


def test_queues_can_be_added_to_living_brokers(table: RouteTable) -> None:
    register(table, A, "T")
    perm = Perm.READ | Perm.WRITE
    table.add_topic("N", [QueueData("broker-a", 2, 2, perm)])
    table.add_topic("M", [QueueData("broker-x", 2, 2, perm)])
    assert write_queues(table, "N") == {"broker-a": 2}
    assert "M" not in table.topics()


def test_the_write_permission_goes_and_comes(table: RouteTable) -> None:
    register(table, A, "T")
    register(table, B, "T")
    assert table.set_writable("broker-a", writable=False) == 2
    route = table.route("T")
    assert route is not None
    assert [data.perm for data in route.queues] == [Perm.READ, Perm.READ | Perm.WRITE]
    assert table.set_writable("broker-a", writable=True) == 2
    assert table.set_writable("broker-x", writable=False) == 0
    route = table.route("T")
    assert route is not None
    assert {data.perm for data in route.queues} == {Perm.READ | Perm.WRITE}
