from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.store import (
    BlockItem,
    Envelope,
    MessageColumns,
    MessageStore,
    property_columns,
    property_values,
    record,
)
from rmqcore.store.block import encode_block, encode_one, key_entries, record_sizes
from rmqcore.store.dispatch import key_hashes
from rmqcore.store.record import PendingRecord

from .records import HOST, HOST_V6, START_MS, properties

hosts = st.sampled_from([HOST, HOST_V6])
texts = st.text("abc é", max_size=5)
values = st.fixed_dictionaries(
    {}, optional={"TAGS": texts, "KEYS": texts, "UNIQ_KEY": texts, "A": texts}
)
items = st.tuples(
    st.integers(-(2**31), 2**31 - 1),
    st.binary(max_size=20),
    values.map(lambda each: properties(**each)),
)


def taken_apart(items: Iterable[tuple[int, bytes, bytes]]) -> list[BlockItem]:
    return [
        (flag, body, text, property_values(text.rstrip(b"\0")))
        for flag, body, text in items
    ]


def made(*items: tuple[int, bytes, bytes]) -> MessageColumns:
    return MessageColumns.of(taken_apart(items))


@given(
    st.lists(items, min_size=1, max_size=4),
    st.sampled_from(["T", "x" * 127, "x" * 128, "中文"]),
    hosts,
    hosts,
)
def test_a_block_is_what_its_records_are_one_by_one(
    messages: list[tuple[int, bytes, bytes]],
    topic: str,
    born_host: bytes,
    store_host: bytes,
) -> None:
    envelope = Envelope(
        topic, 3, 7, born_host, store_host, sys_flag=1, reconsume_times=2
    )
    expected, places, at = [], [], 1000
    for number, (flag, body, text) in enumerate(messages, start=5):
        pending = PendingRecord(
            topic, 3, body, text, 7, born_host, store_host, flag, 1, 2
        )
        places.append(at)
        expected.append(record.encode(pending, number, at, START_MS))
        at += len(expected[-1])
    columns = made(*messages)
    sizes = record_sizes(envelope, columns)
    assert sizes == [len(data) for data in expected]
    data = encode_block(
        envelope, columns, sizes, places, queue_offset=5, store_timestamp=START_MS
    )
    assert data == b"".join(expected)
    (first, *_) = taken_apart(messages)
    one = encode_one(
        envelope,
        first,
        sizes[0],
        queue_offset=5,
        log_offset=1000,
        store_timestamp=START_MS,
    )
    assert one == expected[0]


def test_lengths_that_are_known_change_nothing() -> None:
    text = properties(UNIQ_KEY="u1")
    columns = made((1, b"one", text), (2, b"two", text))
    alike = columns._replace(lengths=(3, len(text)))
    sizes = record_sizes(envelope(), columns)
    assert record_sizes(envelope(), alike) == sizes
    first, second = (
        encode_block(
            envelope(), each, sizes, (0, 99), queue_offset=5, store_timestamp=START_MS
        )
        for each in (columns, alike)
    )
    assert first == second


@given(st.lists(values, min_size=1, max_size=4))
def test_the_keys_of_a_block_are_those_of_its_messages(
    messages: list[dict[str, str]],
) -> None:
    columns = made(*((0, b"x", properties(**each)) for each in messages))
    expected: list[int] = []
    for distance, each in enumerate(messages):
        taken = property_values(properties(**each))
        for hashed in key_hashes(b"T", taken):
            expected += (hashed, distance)
    assert list(key_entries(envelope(), columns, range(len(messages)))) == expected


def test_keys_are_found_whether_each_message_has_one_or_not() -> None:
    def hashed(*keys: tuple[bytes, bytes]) -> list[int]:
        columns = MessageColumns(
            [0] * len(keys),
            [b"x"] * len(keys),
            [b""] * len(keys),
            [unique for unique, _ in keys if unique],
            [listed for _, listed in keys if listed],
        )
        return list(key_entries(envelope(), columns, range(len(keys))))

    (a,), (b,) = (key_hashes(b"T", {b"KEYS": key}) for key in (b"a", b"b"))
    assert hashed((b"a", b"b"), (b"b", b"a")) == [a, 0, b, 0, b, 1, a, 1]
    assert hashed((b"a", b""), (b"b", b"")) == [a, 0, b, 1]
    assert hashed((b"", b"a"), (b"", b"b")) == [a, 0, b, 1]
    assert hashed((b"", b"a b"), (b"", b"b")) == [a, 0, b, 0, b, 1]
    assert hashed((b"", b" "), (b"", b"a b")) == [a, 1, b, 1]
    assert hashed((b"", b""), (b"", b"")) == []


shaped = st.sampled_from([b"A\x01a\x02", b"B\x01b\x02", b"A\x01c\x02", b"\x01\x02"])
strange = st.sampled_from(
    [b"A", b"A\x01a", b"\x02", b"A\x01\x01b\x02", b"A\0\x01a\x02", b"\0"]
)


@given(st.lists(st.lists(shaped | strange, max_size=4).map(b"".join), min_size=1))
def test_properties_by_column_are_those_one_by_one(texts: list[bytes]) -> None:
    columns = property_columns(texts)
    if columns is not None:
        names = columns.keys()
        rows = zip(*columns.values(), strict=True)
        by_column = [dict(zip(names, row, strict=True)) for row in rows]
        assert by_column == [property_values(text) for text in texts]


@given(st.lists(shaped, min_size=1, max_size=4).map(b"".join), st.integers(1, 5))
def test_properties_of_the_same_names_have_columns(text: bytes, messages: int) -> None:
    columns = property_columns([text] * messages)
    assert columns is not None
    assert {name: column[-1] for name, column in columns.items()} == (
        property_values(text)
    )
    assert {len(column) for column in columns.values()} == {messages}


@pytest.mark.parametrize(
    "texts",
    [
        [b""],
        [b"A\x01a\x02", b"B\x01b\x02"],
        [b"A\x01a\x02", b"A\x01a\x02A\x01a\x02", b""],
        [b"A\x01a\x02", b"A\x01a"],
        [b"A\x01a\x02", b"\0A\x01a\x02"],
        [b"A\x01a\x02A\x02\x01\x01"],
    ],
)
def test_properties_that_are_not_alike_have_no_columns(texts: list[bytes]) -> None:
    assert property_columns(texts) is None


def test_a_topic_that_no_record_holds_is_refused() -> None:
    with pytest.raises(ArgumentError, match="of 40000 bytes, limit"):
        Envelope("x" * 40_000, 0, 0, HOST, HOST)


@pytest.fixture
def store(tmp_path: Path) -> MessageStore:
    return MessageStore(tmp_path, segment_bytes=4096)


def envelope(topic: str = "T", sys_flag: int = 0) -> Envelope:
    return Envelope(topic, 0, START_MS, HOST, HOST, sys_flag=sys_flag)


def test_a_block_goes_to_one_queue_and_is_found_again(store: MessageStore) -> None:
    seen: list[tuple[object, ...]] = []
    store.on_arrival = lambda *arrival: seen.append(arrival)
    texts = [
        properties(TAGS="TagA", KEYS="k1 k2", UNIQ_KEY="u1"),
        properties(KEYS="k2"),
    ]
    block = made(*((0, b"body", text) for text in texts))
    first = store.append_block(envelope(), block, START_MS)
    second = store.append_block(envelope(), block, START_MS - 5)
    assert (first.queue_offset, second.queue_offset) == (0, 2)
    assert second.store_timestamp == START_MS
    assert second.log_offsets[0] == first.end
    assert seen == [("T", 0, 0, [2598919, 0]), ("T", 0, 2, [2598919, 0])]
    assert store.read("T", 0, 0, 32).count == 4
    assert len(store.find_by_key("T", "k2", 32, 0, START_MS)) == 4
    assert len(store.find_by_key("T", "u1", 32, 0, START_MS)) == 2
    store.abandon()
    again = MessageStore(store.directory, segment_bytes=4096)
    assert again.max_offset("T", 0) == 4
    assert len(again.find_by_key("T", "k1", 32, 0, START_MS)) == 2
    again.abandon()


def test_a_block_that_does_not_fit_the_file_begins_the_next(
    store: MessageStore,
) -> None:
    block = made((0, b"x" * 1500, properties(KEYS="k")))
    placed = [store.append_block(envelope(), block, START_MS) for _ in range(3)]
    assert [place.log_offsets[0] for place in placed] == [0, placed[0].end, 4096]
    for place in placed:
        data = store.record_at(place.log_offsets[0])
        assert data is not None
        assert record.parse(data).log_offset == place.log_offsets[0]
    assert len(store.find_by_key("T", "k", 32, 0, START_MS)) == 3
    with pytest.raises(StoreError, match="do not fit"):
        store.append_block(envelope(), made((0, b"x" * 5000, b"")), START_MS)
    assert store.max_offset("T", 0) == 3
    store.abandon()


def test_one_message_is_stored_as_a_block_of_one(store: MessageStore) -> None:
    seen: list[tuple[object, ...]] = []
    store.on_arrival = lambda *arrival: seen.append(arrival)
    text = properties(TAGS="TagA", KEYS="k1 k2", UNIQ_KEY="u1")
    (item,) = taken_apart([(5, b"body", text)])
    placed = store.append_one(envelope(), item, START_MS)
    block = store.append_block(envelope(), made((5, b"body", text)), START_MS - 1)
    assert (placed.queue_offset, block.queue_offset) == (0, 1)
    assert block.log_offsets == [placed.end]
    assert block.store_timestamp == placed.store_timestamp == START_MS
    assert seen == [("T", 0, 0, (2598919,)), ("T", 0, 1, [2598919])]
    first, second = (store.record_at(at) for at in (placed.log_offset, placed.end))
    assert first is not None
    assert second is not None
    assert first[:20] == second[:20]
    assert first[36:] == second[36:]
    for key in ("k1", "k2", "u1"):
        assert len(store.find_by_key("T", key, 32, 0, START_MS)) == 2
    store.abandon()


def test_half_messages_are_not_queued(store: MessageStore) -> None:
    items = [(0, b"x", b"")]
    store.append_block(envelope(sys_flag=4), made(*items), START_MS)
    store.append_one(envelope(sys_flag=4), taken_apart(items)[0], START_MS)
    assert store.max_offset("T", 0) == 0
    assert store.log_offsets[1] > 0
    store.abandon()


def test_a_delayed_message_carries_when_it_is_due(store: MessageStore) -> None:
    items = [(0, b"x", properties(DELAY=2))]
    store.append_one(envelope(SCHEDULE_TOPIC), taken_apart(items)[0], START_MS)
    entry = store.entry(SCHEDULE_TOPIC, 0, 0)
    assert entry is not None
    assert entry[2] == START_MS + 5_000
    with pytest.raises(ArgumentError, match="a batch cannot go to SCHEDULE_TOPIC"):
        store.append_block(envelope(SCHEDULE_TOPIC), made(*items), START_MS)
    store.abandon()
