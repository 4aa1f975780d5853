import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    MessageQueue,
    SubscriptionData,
)
from rmqcore.protocol.bodies import (
    ClientConfig,
    LockBatchRequest,
    decode_client_config,
    decode_consumer_ids,
    decode_heartbeat,
    decode_lock_request,
    decode_lock_response,
    encode_client_config,
    encode_consumer_ids,
    encode_heartbeat,
    encode_lock_request,
    encode_lock_response,
)

from .tricky import int32s, int64s, names, queues

subscriptions = st.builds(
    SubscriptionData,
    names,
    names,
    st.frozensets(names, max_size=2),
    st.frozensets(int32s, max_size=2),
    int64s,
    st.sampled_from(["TAG", "SQL92"]),
    st.booleans(),
)
consumers = st.builds(
    ConsumerData,
    names,
    st.sampled_from(ConsumeType),
    st.sampled_from(MessageModel),
    st.sampled_from(ConsumeFromWhere),
    st.lists(subscriptions, max_size=2).map(tuple),
    st.booleans(),
)
heartbeats = st.builds(
    HeartbeatData,
    names,
    st.lists(names, max_size=2).map(tuple),
    st.lists(consumers, max_size=2).map(tuple),
)


@given(heartbeats)
def test_a_heartbeat_survives_the_trip(heartbeat: HeartbeatData) -> None:
    assert decode_heartbeat(encode_heartbeat(heartbeat)) == heartbeat


def test_other_clients_may_leave_members_out_or_null() -> None:
    data = (
        b'{"clientID":"c","producerDataSet":null,"consumerDataSet":[{"groupName":"g",'
        b'"subscriptionDataSet":[{"topic":"T","tagsSet":null,"codeSet":null}]}]}'
    )
    (consumer,) = decode_heartbeat(data).consumers
    assert consumer.subscriptions == (SubscriptionData("T"),)
    assert consumer.message_model is MessageModel.CLUSTERING


def test_a_heartbeat_without_subscriptions_is_refused() -> None:
    data = b'{"clientID":"c","heartbeatFingerprint":7,"withoutSub":true}'
    with pytest.raises(BodyError, match=r"heartbeat of c .*\(fingerprint 7\)"):
        decode_heartbeat(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "missing required field `clientID`"),
        (b'{"clientID":"c","consumerDataSet":[{}]}', "`groupName`"),
        (
            b'{"clientID":"c","consumerDataSet":'
            b'[{"groupName":"g","messageModel":"SOME"}]}',
            "Invalid enum value 'SOME'",
        ),
    ],
)
def test_a_broken_heartbeat_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(BodyError, match=f"Heartbeat: .*{message}"):
        decode_heartbeat(data)


@given(st.lists(names, max_size=4))
def test_client_ids_survive_the_trip(client_ids: list[str]) -> None:
    assert decode_consumer_ids(encode_consumer_ids(client_ids)) == client_ids


@given(
    st.builds(
        LockBatchRequest,
        names,
        names,
        st.lists(queues, max_size=3).map(tuple),
        st.booleans(),
    )
)
def test_a_lock_request_survives_the_trip(request: LockBatchRequest) -> None:
    assert decode_lock_request(encode_lock_request(request)) == request


@given(st.frozensets(queues, max_size=3))
def test_locked_queues_survive_the_trip(locked: frozenset[MessageQueue]) -> None:
    assert decode_lock_response(encode_lock_response(locked)) == locked


@given(st.builds(ClientConfig, names, names, subscriptions, st.none() | names))
def test_a_clients_question_survives_the_trip(config: ClientConfig) -> None:
    assert decode_client_config(encode_client_config(config)) == config
