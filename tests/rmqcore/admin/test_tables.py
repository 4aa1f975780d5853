from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.admin.answered import Answered
from rmqcore.admin.tables import (
    KnownOffsets,
    decode_group_listing,
    decode_offset_tables,
    decode_topic_listing,
    decode_topic_offsets,
)
from rmqcore.errors import BodyError
from rmqcore.model.queue import MessageQueue
from rmqcore.model.route import QueueData
from rmqcore.model.topic import Perm, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.bodies import (
    ConsumerOffsets,
    DataVersion,
    SubscriptionGroupTable,
    TopicConfigTable,
    TopicOffset,
    encode_consumer_offsets,
    encode_group_table,
    encode_topic_config_table,
    encode_topic_stats,
)

OFFSET = st.integers(-(2**63), 2**63 - 1)
NAME = st.text(
    st.characters(codec="utf-8", exclude_characters="@"), min_size=1, max_size=12
) | st.sampled_from(['":{0:1}', "}}", "a:b", '{"x"', "pullOffsetTable", "€%"])
TABLES = st.dictionaries(
    st.tuples(NAME, NAME),
    st.dictionaries(st.integers(0, 99), OFFSET, max_size=5),
    max_size=6,
)


@given(TABLES)
def test_offsets_come_back_by_group_topic_and_queue(
    table: dict[tuple[str, str], dict[int, int]],
) -> None:
    body = encode_consumer_offsets(
        ConsumerOffsets(
            {f"{topic}@{group}": row for (topic, group), row in table.items()}
        )
    )
    committed = decode_offset_tables(body).committed
    assert {
        (topic, group): dict(zip(flat[::2], flat[1::2], strict=True))
        for group, topics in committed.items()
        for topic, flat in topics.items()
    } == table


@given(st.lists(TABLES, min_size=1, max_size=4))
def test_what_is_known_of_earlier_tables_changes_nothing(
    tables: list[dict[tuple[str, str], dict[int, int]]],
) -> None:
    known = KnownOffsets()
    for table in tables:
        body = encode_consumer_offsets(
            ConsumerOffsets({f"{t}@{g}": row for (t, g), row in table.items()})
        )
        assert decode_offset_tables(body, known) == decode_offset_tables(body)


def test_entries_that_stay_the_same_are_not_decoded_again() -> None:
    known = KnownOffsets()
    first = decode_offset_tables(
        b'{"offsetTable":{"T@G":{0:500},"T@H":{0:600}}}', known
    )
    second = decode_offset_tables(
        b'{"offsetTable":{"T@G":{0:500},"T@H":{0:601}}}', known
    )
    assert second.committed["G"] is first.committed["G"]
    assert first.committed["H"]["T"] == [0, 600]
    assert second.committed["H"]["T"] == [0, 601]


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("TU"), st.sampled_from("GH"), st.integers(0, 2)),
            max_size=6,
        ),
        min_size=2,
        max_size=5,
    )
)
def test_of_entries_with_one_name_the_last_counts_whatever_is_known(
    tables: list[list[tuple[str, str, int]]],
) -> None:
    known = KnownOffsets()
    for table in tables:
        rows = ",".join(f'"{topic}@{group}":{{0:{at}}}' for topic, group, at in table)
        body = f'{{"offsetTable":{{{rows}}}}}'.encode()
        expected: dict[str, dict[str, list[int]]] = {}
        for topic, group, at in table:
            expected.setdefault(group, {})[topic] = [0, at]
        assert decode_offset_tables(body, known).committed == expected


def test_equal_answers_lead_to_the_same_object() -> None:
    answered: Answered[list[bytes]] = Answered()
    first = answered.decoded("g", b"one", lambda body: [body])
    assert answered.decoded("g", b"one", lambda body: [body]) is first
    assert answered.decoded("g", b"two", lambda body: [body]) == [b"two"]
    answered.keep(())
    assert answered.decoded("g", b"two", lambda body: [body, body]) == [b"two"] * 2


def test_a_5x_broker_tells_what_was_pulled() -> None:
    body = (
        b'{"dataVersion":{"counter":1},"groupTopicMap":{"G":["T"]},'
        b'"offsetTable":{"T@G":{0:5,1:6}},"pullOffsetTable":{"T@G":{0:7}}}'
    )
    tables = decode_offset_tables(body)
    assert tables.committed == {"G": {"T": [0, 5, 1, 6]}}
    assert tables.pulled == {"G": {"T": [0, 7]}}


def test_a_4x_broker_does_not_tell_what_was_pulled() -> None:
    tables = decode_offset_tables(b'{"dataVersion":{},"offsetTable":{"T@G":{0:5}}}')
    assert tables.pulled is None


@pytest.mark.parametrize("pulled", [b"", b',"pullOffsetTable":{}'])
def test_empty_tables(pulled: bytes) -> None:
    tables = decode_offset_tables(b'{"dataVersion":{},"offsetTable":{}%s}' % pulled)
    assert tables.committed == {}
    assert not tables.pulled


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"offsetTable":{"T@G":{0:',
        b'{"offsetTable":{"T@G":{0:1}',
        b'{"offsetTable":{"T@G":{0:"x"}}}',
        b'{"offsetTable":{"T@G":{0:1.5}}}',
        b'{"offsetTable":{"T@G":{0:9223372036854775808}}}',
    ],
)
def test_half_a_table_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        decode_offset_tables(body)


def test_a_key_without_a_group_is_refused() -> None:
    with pytest.raises(BodyError, match="topic@group"):
        decode_offset_tables(b'{"offsetTable":{"T":{0:1}}}')


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
    | st.sampled_from(["}:{", '}},"topicPutTps"', '"queueId":']),
    st.dictionaries(st.integers(0, 500), st.tuples(OFFSET, OFFSET), max_size=12),
)
def test_topic_offsets_are_columns_by_queue_id(
    topic: str, queues: dict[int, tuple[int, int]]
) -> None:
    body = encode_topic_stats(
        {
            MessageQueue(topic, "b", queue_id): TopicOffset(5, high, low)
            for queue_id, (low, high) in queues.items()
        }
    )
    offsets = decode_topic_offsets(body)
    assert offsets.queue_ids == sorted(queues)
    assert offsets.min == array("q", [queues[q][0] for q in sorted(queues)])
    assert offsets.max == array("q", [queues[q][1] for q in sorted(queues)])


@pytest.mark.parametrize("body", [b"", b"[]", b'{"offsetTable":{{"brokerName":"b"'])
def test_half_of_topic_statistics_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        decode_topic_offsets(body)


def test_a_topic_listing_has_queue_counts_and_the_brokers_version() -> None:
    table = TopicConfigTable(
        {"T": TopicConfig("T", 3, 4, Perm.READ)}, DataVersion(counter=7, timestamp=9)
    )
    listing = decode_topic_listing(encode_topic_config_table(table), "b")
    assert listing.names == {"T"}
    assert listing.topics == {"T": QueueData("b", 3, 4, Perm.READ)}
    assert listing.version == '{"counter":7,"stateVersion":0,"timestamp":9}'


def test_a_group_listing_has_names_and_the_brokers_version() -> None:
    table = SubscriptionGroupTable(
        {"G": SubscriptionGroupConfig("G")}, DataVersion(counter=7)
    )
    listing = decode_group_listing(encode_group_table(table))
    assert listing.names == {"G"}
    assert '"counter":7' in listing.version


def test_listings_in_fastjsons_spelling_are_read_without_a_version() -> None:
    topics = decode_topic_listing(
        b"{'topicConfigTable':{'T':{'topicName':'T','readQueueNums':2,"
        b"'writeQueueNums':2,'perm':6}}}",
        "b",
    )
    groups = decode_group_listing(b"{'subscriptionGroupTable':{'G':{'groupName':'G'}}}")
    assert (topics.names, topics.version) == ({"T"}, "")
    assert (groups.names, groups.version) == ({"G"}, "")


@pytest.mark.parametrize("body", [b"", b"[1]", b'{"topicConfigTable":{"T":'])
def test_half_a_listing_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        decode_topic_listing(body, "b")
    with pytest.raises(BodyError):
        decode_group_listing(body.replace(b"topicConfig", b"subscriptionGroup"))


@pytest.mark.parametrize(
    "body",
    [
        encode_consumer_offsets(ConsumerOffsets({"T@G": {0: 1}, "U@G": {1: 2}})),
        b'{"offsetTable":{"T@G":{0:5}},"pullOffsetTable":{"T@G":{0:7}}}',
        b'{"offsetTable":{"T@G":{0:5}},"pullOffsetTable":{}}',
        b'{"offsetTable":{}}',
    ],
)
def test_no_prefix_of_an_offset_table_is_taken_for_the_whole(body: bytes) -> None:
    decode_offset_tables(body)
    for length in range(len(body)):
        with pytest.raises(BodyError):
            decode_offset_tables(body[:length])


def test_no_prefix_of_topic_statistics_is_taken_for_the_whole() -> None:
    body = encode_topic_stats({MessageQueue("T", "b", 0): TopicOffset(1, 2, 0)}, 1.5)
    for length in range(len(body)):
        with pytest.raises(BodyError):
            decode_topic_offsets(body[:length])
