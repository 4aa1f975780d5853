from hypothesis import given
from hypothesis import strategies as st

from rmqcore.model import ConsumeFromWhere, ConsumeType, MessageModel
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    ProducerInfo,
    decode_consumer_connection,
    decode_producer_connection,
    decode_producer_table,
    encode_consumer_connection,
    encode_producer_connection,
    encode_producer_table,
)

from .test_heartbeat import subscriptions
from .tricky import int32s, int64s, names

connections = st.lists(
    st.builds(ClientConnection, names, names, names, int32s), max_size=3
)
producers = st.lists(
    st.builds(ProducerInfo, names, names, int64s, names, int32s), max_size=3
)


@given(
    st.builds(
        ConsumerConnection,
        connections.map(tuple),
        st.dictionaries(names, subscriptions, max_size=2),
        st.none() | st.sampled_from(ConsumeType),
        st.none() | st.sampled_from(MessageModel),
        st.none() | st.sampled_from(ConsumeFromWhere),
    )
)
def test_consumers_survive_the_trip(connection: ConsumerConnection) -> None:
    data = encode_consumer_connection(connection)
    assert decode_consumer_connection(data) == connection


@given(connections)
def test_producers_survive_the_trip(listed: list[ClientConnection]) -> None:
    assert decode_producer_connection(encode_producer_connection(listed)) == listed


@given(st.dictionaries(names, producers, max_size=2))
def test_the_table_of_producers_survives_the_trip(
    table: dict[str, list[ProducerInfo]],
) -> None:
    assert decode_producer_table(encode_producer_table(table)) == table


def test_a_client_in_a_language_unknown_to_java_has_none() -> None:
    data = b'{"connectionSet":[{"clientAddr":"h:1","clientId":"c","version":5}]}'
    (connection,) = decode_consumer_connection(data).connections
    assert connection == ClientConnection("h:1", "c", "", 5)
