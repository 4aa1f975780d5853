from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import (
    LogicQueueMappingItem,
    MessageQueue,
    Perm,
    TopicConfig,
    TopicQueueMapping,
)
from rmqcore.protocol.bodies import (
    DataVersion,
    TopicConfigTable,
    TopicOffset,
    WireQueue,
    decode_topic_config,
    decode_topic_config_list,
    decode_topic_config_table,
    decode_topic_stats,
    encode_topic_config,
    encode_topic_config_list,
    encode_topic_config_table,
    encode_topic_stats,
)
from rmqcore.protocol.bodies.codec import BodyDecoder

from .tricky import (
    counts,
    filled,
    int32s,
    int64s,
    mappings,
    names,
    queues,
    rates,
)

configs = st.builds(
    TopicConfig,
    filled,
    counts,
    counts,
    st.integers(0, 15).map(Perm),
    names,
    int32s,
    st.booleans(),
    st.dictionaries(names, names, max_size=2),
)
static_or_not = st.builds(
    replace, configs, mapping=st.none() | mappings(with_pieces=True)
)
STATIC = TopicConfig(
    "static",
    mapping=TopicQueueMapping(
        "static", "a", 1, 1, "s", {0: 0}, {0: (LogicQueueMappingItem(0, 0, "a"),)}
    ),
)
versions = st.builds(DataVersion, int64s, int64s, int64s)
offsets = st.dictionaries(
    queues, st.builds(TopicOffset, int64s, int64s, int64s), max_size=4
)


@given(static_or_not)
@example(STATIC)
def test_a_configuration_survives_the_trip(config: TopicConfig) -> None:
    assert decode_topic_config(encode_topic_config(config)) == config


@given(st.lists(configs, max_size=3))
def test_a_list_survives_the_trip(listed: list[TopicConfig]) -> None:
    assert decode_topic_config_list(encode_topic_config_list(listed)) == listed


@given(
    st.builds(
        TopicConfigTable, st.dictionaries(names, static_or_not, max_size=3), versions
    )
)
@example(TopicConfigTable({"static": STATIC}, DataVersion(0, 0, 0)))
def test_a_table_survives_the_trip(table: TopicConfigTable) -> None:
    assert decode_topic_config_table(encode_topic_config_table(table)) == table


@pytest.mark.parametrize(
    "body", [b"{}", b'{"topicName":""}', b'{"topicName":"T","readQueueNums":-1}']
)
def test_a_configuration_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError, match="WireTopicConfig"):
        decode_topic_config(body)


@given(offsets, rates)
def test_statistics_survive_the_trip(
    table: dict[MessageQueue, TopicOffset], tps: float
) -> None:
    stats = decode_topic_stats(encode_topic_stats(table, tps))
    assert stats.by_queue() == table
    assert stats.topic_put_tps == tps


@given(offsets, rates)
def test_the_fast_way_and_the_slow_way_agree(
    table: dict[MessageQueue, TopicOffset], tps: float
) -> None:
    data = encode_topic_stats(table, tps)
    loose = data.replace(b'"topicPutTps"', b' "topicPutTps"')
    assert decode_topic_stats(data) == decode_topic_stats(loose)


@pytest.mark.parametrize("tail", [b"}", b',"topicPutTps":0.0}'])
@pytest.mark.parametrize("count", [0, 1, 8])
def test_usual_statistics_need_no_scanner(
    count: int, tail: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    table = {MessageQueue("T", "b", i): TopicOffset(1, 2, i) for i in range(count)}
    data = encode_topic_stats(table).replace(b',"topicPutTps":0.0}', tail)
    monkeypatch.setattr(BodyDecoder, "_decode_slowly", refuse)
    stats = decode_topic_stats(data)
    assert stats.offset_table == [
        (WireQueue("b", i, "T"), TopicOffset(1, 2, i)) for i in range(count)
    ]


def test_statistics_with_keys_in_another_order_are_read() -> None:
    data = (
        b'{"offsetTable":{{"topic":"T","brokerName":"b","queueId":1}:{"maxOffset":9}}}'
    )
    expected = {MessageQueue("T", "b", 1): TopicOffset(max_offset=9)}
    assert decode_topic_stats(data).by_queue() == expected


def test_an_offset_beyond_64_bits_is_refused() -> None:
    table = {MessageQueue("T", "b", 0): TopicOffset(max_offset=2**63)}
    with pytest.raises(BodyError, match="TopicStats: Expected `int` <= "):
        decode_topic_stats(encode_topic_stats(table))
