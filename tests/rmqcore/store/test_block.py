from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.store import BlockItem, Envelope, MessageStore, property_values, record
from rmqcore.store.block import Place, encode_block
from rmqcore.store.record import PendingRecord

from .records import HOST, HOST_V6, START_MS, properties

hosts = st.sampled_from([HOST, HOST_V6])
texts = st.text("abc é", max_size=5)
items = st.tuples(
    st.integers(-(2**31), 2**31 - 1),
    st.binary(max_size=20),
    st.fixed_dictionaries(
        {}, optional={"TAGS": texts, "KEYS": texts, "UNIQ_KEY": texts, "A": texts}
    ).map(lambda values: properties(**values)),
)


def made(*items: tuple[int, bytes, bytes]) -> list[BlockItem]:
    return [
        (flag, body, text, property_values(text.rstrip(b"\0")))
        for flag, body, text in items
    ]


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
    envelope = Envelope(topic, 3, 7, born_host, store_host, 1, 2)
    block = encode_block(envelope, made(*messages), Place(5, 1000, START_MS), ())
    expected, at = [], 1000
    for number, (flag, body, text) in enumerate(messages, start=5):
        pending = PendingRecord(
            topic, 3, body, text, 7, born_host, store_host, flag, 1, 2
        )
        expected.append(record.encode(pending, number, at, START_MS))
        at += len(expected[-1])
    assert block.data == b"".join(expected)
    assert block.log_offsets == [
        1000 + sum(map(len, expected[:n])) for n in range(len(expected))
    ]
    assert block.entries[1::3] == [len(data) for data in expected]


def test_a_topic_that_no_record_holds_is_refused() -> None:
    with pytest.raises(ArgumentError, match="of 40000 bytes, limit"):
        Envelope("x" * 40_000, 0, 0, HOST, HOST)


@pytest.fixture
def store(tmp_path: Path) -> MessageStore:
    return MessageStore(tmp_path, segment_bytes=4096)


def envelope(topic: str = "T", sys_flag: int = 0) -> Envelope:
    return Envelope(topic, 0, START_MS, HOST, HOST, sys_flag)


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


def test_half_messages_of_a_block_are_not_queued(store: MessageStore) -> None:
    store.append_block(envelope(sys_flag=4), made((0, b"x", b"")), START_MS)
    assert store.max_offset("T", 0) == 0
    store.abandon()


def test_delayed_messages_of_a_block_carry_when_they_are_due(
    store: MessageStore,
) -> None:
    block = made((0, b"x", properties(DELAY=2)))
    store.append_block(envelope(SCHEDULE_TOPIC), block, START_MS)
    entry = store.entry(SCHEDULE_TOPIC, 0, 0)
    assert entry is not None
    assert entry[2] == START_MS + 5_000
    store.abandon()
