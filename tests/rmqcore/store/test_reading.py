from collections.abc import Iterator
from pathlib import Path

import pytest

from rmqcore.protocol.message import decode_records
from rmqcore.protocol.tags import java_string_hash
from rmqcore.store import MessageStore, ReadResult, ReadStatus

from .records import START_MS, pending

TAG_A = frozenset({java_string_hash("A")})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MessageStore]:
    opened = MessageStore(tmp_path / "store", segment_bytes=1 << 20)
    yield opened
    opened.abandon()


def fill(store: MessageStore, count: int, *, tag: str = "A", size: int = 5) -> None:
    for number in range(count):
        store.append(pending(body=b"%05d" % number + b"x" * (size - 5), TAGS=tag), 1)


def offsets(result: ReadResult) -> list[int]:
    return [m.queue_offset for m in decode_records(result.body, "b")]


def test_messages_come_as_stored(store: MessageStore) -> None:
    fill(store, 3)
    result = store.read("T", 0, 1, 32)
    assert (result.status, result.count) == (ReadStatus.FOUND, 2)
    assert (result.next_offset, result.min_offset, result.max_offset) == (3, 0, 3)
    assert offsets(result) == [1, 2]


@pytest.mark.parametrize(
    ("offset", "status", "following"),
    [
        (3, ReadStatus.OFFSET_OVERFLOW_ONE, 3),
        (4, ReadStatus.OFFSET_OVERFLOW_BADLY, 3),
        (-1, ReadStatus.OFFSET_TOO_SMALL, 0),
    ],
)
def test_offsets_outside_are_corrected(
    store: MessageStore, offset: int, status: ReadStatus, following: int
) -> None:
    fill(store, 3)
    result = store.read("T", 0, offset, 32)
    assert (result.status, result.next_offset) == (status, following)
    assert (result.count, result.body) == (0, b"")


@pytest.mark.parametrize(("topic", "queue_id"), [("T", 9), ("U", 0)])
def test_an_unknown_queue_has_no_message(
    store: MessageStore, topic: str, queue_id: int
) -> None:
    fill(store, 1)
    result = store.read(topic, queue_id, 5, 32)
    assert (result.status, result.next_offset) == (ReadStatus.NO_MESSAGE_IN_QUEUE, 0)


@pytest.mark.parametrize(("asked", "got"), [(1, 1), (10, 10), (1000, 32), (0, 1)])
def test_a_batch_has_at_most_32_messages(
    store: MessageStore, asked: int, got: int
) -> None:
    fill(store, 40)
    result = store.read("T", 0, 0, asked)
    assert (result.count, result.next_offset) == (got, got)


def test_a_batch_has_at_most_256_kib(store: MessageStore) -> None:
    fill(store, 5, size=100_000)
    result = store.read("T", 0, 0, 32)
    assert (result.count, result.next_offset) == (2, 2)


def test_the_first_message_is_returned_however_large(store: MessageStore) -> None:
    fill(store, 2, size=300_000)
    assert store.read("T", 0, 0, 32).count == 1


def test_a_filter_takes_only_its_codes(store: MessageStore) -> None:
    for number in range(6):
        tag = "A" if number % 3 else "B"
        store.append(pending(body=b"x", TAGS=tag), 1)
    result = store.read("T", 0, 0, 32, codes=TAG_A)
    assert (offsets(result), result.next_offset) == ([1, 2, 4, 5], 6)


def test_a_filter_that_matches_nothing_moves_on(store: MessageStore) -> None:
    fill(store, 1000, tag="B")
    result = store.read("T", 0, 10, 32, codes=TAG_A)
    assert (result.status, result.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 810)


def test_a_filtered_batch_ends_behind_its_last_match(store: MessageStore) -> None:
    fill(store, 40)
    result = store.read("T", 0, 0, 10, codes=TAG_A)
    assert (result.count, result.next_offset) == (10, 10)


def test_messages_of_several_files_make_one_batch(store: MessageStore) -> None:
    fill(store, 10, size=200_000)
    assert [store.read("T", 0, n, 1).count for n in range(10)] == [1] * 10
    for number in range(3):
        store.append(pending(queue_id=1, body=b"a%d" % number), START_MS)
        store.append(pending(queue_id=2, body=b"between"), START_MS)
    result = store.read("T", 1, 0, 32)
    bodies = [m.body for m in decode_records(result.body, "b")]
    assert bodies == [b"a0", b"a1", b"a2"]
