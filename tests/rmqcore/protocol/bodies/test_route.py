import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import BrokerData, Perm, QueueData, TopicRoute
from rmqcore.protocol.bodies import (
    ClusterInfo,
    decode_broker_member_group,
    decode_cluster_info,
    decode_kv_table,
    decode_topic_list,
    decode_topic_route,
    encode_broker_member_group,
    encode_cluster_info,
    encode_kv_table,
    encode_topic_list,
    encode_topic_route,
)

from .tricky import counts, filled, int32s, mappings, names

addresses = st.dictionaries(st.integers(0, 2**63 - 1), names, max_size=3)
brokers = st.builds(BrokerData, names, filled, addresses)
queue_data = st.builds(
    QueueData, filled, counts, counts, st.integers(0, 15).map(Perm), int32s
)
routes = st.builds(
    TopicRoute,
    st.lists(brokers, max_size=3).map(tuple),
    st.lists(queue_data, max_size=3).map(tuple),
    st.none() | st.just("broker-a:4;broker-b:4"),
    st.dictionaries(names, st.lists(names, max_size=2).map(tuple), max_size=2),
    st.dictionaries(names, mappings(with_pieces=False), max_size=2),
)


@given(routes, st.booleans())
def test_a_route_survives_the_trip(route: TopicRoute, standard_json: bool) -> None:
    data = encode_topic_route(route, standard_json=standard_json)
    assert decode_topic_route(data) == route


def test_standard_json_quotes_broker_ids_and_escapes_what_is_not_ascii() -> None:
    route = TopicRoute((BrokerData("集群", "b", {0: "h:1"}),), ())
    assert b'{0:"h:1"}' in encode_topic_route(route)
    standard = encode_topic_route(route, standard_json=True)
    assert b'{"0":"h:1"}' in standard
    assert rb'"\u96C6\u7FA4"' in standard


def test_the_flags_old_spelling_is_read() -> None:
    data = b'{"queueDatas":[{"brokerName":"b","perm":6,"topicSynFlag":3}]}'
    assert decode_topic_route(data).queues[0].topic_sys_flag == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"queueDatas":[{"brokerName":"b","readQueueNums":-1}]}', ">= 0"),
        (b'{"queueDatas":[{"brokerName":"b","writeQueueNums":100001}]}', "<= 100000"),
        (b'{"queueDatas":[{"brokerName":""}]}', "length >= 1"),
        (b'{"brokerDatas":[{"brokerAddrs":{"x":"h:1"},"brokerName":"b"}]}', "int"),
        (b'{"orderTopicConf":"broker-a"}', "orderTopicConf is 'broker-a', not"),
        (b'{"orderTopicConf":"broker-a:x"}', "not broker:count"),
        (b'{"orderTopicConf":"a:1;b"}', "not broker:count"),
        (b"[]", "Expected `object`"),
    ],
)
def test_a_route_that_makes_no_sense_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(BodyError, match=message):
        decode_topic_route(data)


@pytest.mark.parametrize("conf", ["", "a:1", "a:1;b:2", "a:1;b:2;"])
def test_order_configurations_are_kept(conf: str) -> None:
    data = encode_topic_route(TopicRoute((), (), conf))
    assert decode_topic_route(data).order_topic_conf == conf


@given(
    st.builds(
        ClusterInfo,
        st.dictionaries(names, brokers, max_size=3),
        st.dictionaries(names, st.lists(names, max_size=3).map(tuple), max_size=2),
    )
)
def test_clusters_survive_the_trip(info: ClusterInfo) -> None:
    assert decode_cluster_info(encode_cluster_info(info)) == info


@given(brokers)
def test_a_member_group_survives_the_trip(broker: BrokerData) -> None:
    assert decode_broker_member_group(encode_broker_member_group(broker)) == broker


@given(st.lists(names, max_size=4), st.none() | names)
def test_topic_lists_survive_the_trip(topics: list[str], address: str | None) -> None:
    assert decode_topic_list(encode_topic_list(topics, address)) == topics


def test_a_member_group_stands_in_a_member_of_its_own() -> None:
    data = encode_broker_member_group(BrokerData("c", "b", {0: "h:1"}))
    assert data == (
        b'{"brokerMemberGroup":'
        b'{"brokerAddrs":{0:"h:1"},"brokerName":"b","cluster":"c"}}'
    )


def test_a_brokers_topic_list_names_the_broker() -> None:
    assert encode_topic_list(["T"], "h:1") == b'{"brokerAddr":"h:1","topicList":["T"]}'


@given(st.dictionaries(names, names, max_size=4))
def test_tables_survive_the_trip(table: dict[str, str]) -> None:
    assert decode_kv_table(encode_kv_table(table)) == table
