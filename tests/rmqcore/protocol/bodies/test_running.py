import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import (
    ConsumeDirectlyResult,
    ConsumerRunningInfo,
    ConsumeStatus,
    ProcessQueueInfo,
    decode_consume_directly_result,
    decode_consumer_running_info,
    encode_consume_directly_result,
    encode_consumer_running_info,
)
from rmqcore.protocol.bodies.codec import BodyDecoder

from .test_heartbeat import subscriptions
from .tricky import int32s, int64s, names, queues, rates

held = st.builds(
    ProcessQueueInfo,
    cached_msg_count=int32s,
    commit_offset=int64s,
    droped=st.booleans(),
    last_pull_timestamp=int64s,
)
statuses = st.builds(ConsumeStatus, int64s, rates, rates, rates, rates, rates)
infos = st.builds(
    ConsumerRunningInfo,
    st.dictionaries(names, names, max_size=3),
    st.dictionaries(queues, held, max_size=3),
    st.lists(subscriptions, max_size=2).map(tuple),
    st.dictionaries(names, statuses, max_size=2),
    st.dictionaries(names, names, max_size=2),
    st.dictionaries(queues, st.dictionaries(names, int64s, max_size=2), max_size=2),
    st.none() | names,
)


@given(infos)
def test_running_info_survives_the_trip(info: ConsumerRunningInfo) -> None:
    data = encode_consumer_running_info(info)
    assert decode_consumer_running_info(data) == info


@pytest.mark.parametrize("count", [0, 1, 3])
def test_usual_running_info_needs_no_scanner(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    table = {MessageQueue("T", "b", i): ProcessQueueInfo() for i in range(count)}
    info = ConsumerRunningInfo({"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY"}, table)
    data = encode_consumer_running_info(info)
    monkeypatch.setattr(BodyDecoder, "_decode_slowly", refuse)
    assert decode_consumer_running_info(data) == info


def test_broken_running_info_is_refused() -> None:
    with pytest.raises(BodyError, match=r"RunningInfo: .*mqTable\[0\]\[1\]"):
        decode_consumer_running_info(
            b'{"mqTable":{{"brokerName":"b","queueId":0,"topic":"T"}:5},"properties":{}}'
        )


@given(
    st.builds(
        ConsumeDirectlyResult,
        st.booleans(),
        st.none() | names,
        st.booleans(),
        st.none() | names,
        int64s,
    )
)
def test_a_result_survives_the_trip(result: ConsumeDirectlyResult) -> None:
    data = encode_consume_directly_result(result)
    assert decode_consume_directly_result(data) == result
