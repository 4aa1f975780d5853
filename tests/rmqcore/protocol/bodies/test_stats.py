from datetime import timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import (
    BrokerConsumeStats,
    BrokerStatsData,
    ConsumeOffset,
    ConsumeStats,
    ConsumeTimeSpan,
    StatsItem,
    WireQueue,
    decode_broker_consume_stats,
    decode_broker_stats,
    decode_consume_stats,
    decode_consume_time_spans,
    encode_broker_consume_stats,
    encode_broker_stats,
    encode_consume_stats,
    encode_consume_time_spans,
)
from rmqcore.protocol.bodies.codec import BodyDecoder

from .tricky import int32s, int64s, names, queues, rates

consume_offsets = st.builds(ConsumeOffset, int64s, int64s, int64s, int64s)
wire_queues = st.builds(WireQueue, names, int32s, names)
stats = st.builds(
    ConsumeStats,
    rates,
    st.lists(
        st.tuples(wire_queues, consume_offsets), max_size=3, unique_by=lambda p: p[0]
    ),
)
all_stats = st.builds(
    BrokerConsumeStats,
    names,
    st.lists(
        st.dictionaries(names, st.lists(stats, max_size=3), max_size=2), max_size=3
    ),
    int64s,
    int64s,
)
ONE = ConsumeStats(0.0, [(WireQueue("b", 0, "T"), ConsumeOffset(1, 2, 3, 4))])
EMPTY = ConsumeStats(1.5, [])


@given(st.dictionaries(queues, consume_offsets, max_size=4), rates)
def test_statistics_of_a_group_survive_the_trip(
    offsets: dict[MessageQueue, ConsumeOffset], tps: float
) -> None:
    decoded = decode_consume_stats(encode_consume_stats(offsets, tps))
    assert decoded.by_queue() == offsets
    assert decoded.consume_tps == tps


@given(all_stats)
def test_statistics_of_all_groups_survive_the_trip(body: BrokerConsumeStats) -> None:
    assert decode_broker_consume_stats(encode_broker_consume_stats(body)) == body


@given(all_stats)
def test_the_fast_way_and_the_slow_way_agree(body: BrokerConsumeStats) -> None:
    data = encode_broker_consume_stats(body)
    assert decode_broker_consume_stats(b"\n" + data[:-1] + b",}") == body


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [{"g": []}],
        [{"g": [EMPTY]}],
        [{"g": [ONE]}],
        [{"g": [ONE, EMPTY, ONE]}, {"h": [ONE]}],
        [{"g": [EMPTY, ONE, ONE]}],
    ],
)
def test_usual_statistics_need_no_scanner(
    groups: list[dict[str, list[ConsumeStats]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the slow way was taken")

    body = BrokerConsumeStats("h:1", groups, 5, 6)
    data = encode_broker_consume_stats(body)
    one = encode_consume_stats(ONE.by_queue())
    monkeypatch.setattr(BodyDecoder, "_decode_slowly", refuse)
    assert decode_broker_consume_stats(data) == body
    assert decode_consume_stats(one) == ONE


def test_a_group_that_looks_like_the_end_of_a_table_is_kept() -> None:
    body = BrokerConsumeStats("h:1", [{"}}}]": [ONE]}])
    assert decode_broker_consume_stats(encode_broker_consume_stats(body)) == body
    body = BrokerConsumeStats("}:", [{"g": [ONE]}])
    assert decode_broker_consume_stats(encode_broker_consume_stats(body)) == body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"consumeStatsList":[5]}', "expected objects by group"),
        (b'{"consumeStatsList":[{"g":5}]}', "Expected `array`"),
        (b'{"consumeStatsList":[{"g":[5]}]}', "Expected `object`"),
        (b'{"consumeStatsList":[{"g":[{"offsetTable":5}]}]}', "table of queues"),
    ],
)
def test_broken_statistics_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(BodyError, match=message):
        decode_broker_consume_stats(data)


@given(st.lists(st.builds(ConsumeTimeSpan, wire_queues, *[st.integers(0, 2**42)] * 4)))
def test_time_spans_survive_the_trip(spans: list[ConsumeTimeSpan]) -> None:
    assert decode_consume_time_spans(encode_consume_time_spans(spans)) == spans


def test_times_are_written_in_the_zone_given() -> None:
    span = ConsumeTimeSpan(WireQueue("b", 0, "T"), consume_time_stamp=1)
    shanghai = timezone(timedelta(hours=8))
    data = encode_consume_time_spans([span], shanghai)
    assert b'"consumeTimeStampStr":"1970-01-01#08:00:00:001"' in data


@given(st.builds(BrokerStatsData, *[st.builds(StatsItem, rates, int64s, rates)] * 3))
def test_rates_survive_the_trip(body: BrokerStatsData) -> None:
    assert decode_broker_stats(encode_broker_stats(body)) == body
