from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rmqcore.errors import StoreError
from rmqcore.protocol.message import decode_records
from rmqcore.store import MessageStore

from .records import START_MS, pending

HOUR_MS = 3_600_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MessageStore]:
    opened = MessageStore(tmp_path / "store", segment_bytes=4096)
    yield opened
    opened.abandon()


def test_appending_says_where_and_when(store: MessageStore) -> None:
    first = store.append(pending(), START_MS)
    second = store.append(pending(), START_MS + 5)
    assert (first.queue_offset, first.log_offset) == (0, 0)
    assert (second.queue_offset, second.log_offset) == (1, first.end)
    assert second.store_timestamp == store.newest_timestamp == START_MS + 5
    assert store.log_offsets == (0, second.end)
    assert store.max_offset("T", 0) == 2


def test_records_appended_together_lie_together(store: MessageStore) -> None:
    store.append(pending(body=b"x" * 3000), START_MS)
    placed = store.append_all(
        [pending(body=b"y" * 500), pending(queue_id=1), pending(body=b"z" * 500)],
        START_MS,
    )
    assert [place.log_offset // 4096 for place in placed] == [1, 1, 1]
    assert [place.queue_offset for place in placed] == [1, 0, 2]
    data = b"".join(store.record_at(place.log_offset) or b"" for place in placed)
    assert [m.queue_offset for m in decode_records(data, "b")] == [1, 0, 2]


def test_a_store_time_never_falls(store: MessageStore) -> None:
    store.append(pending(), START_MS)
    assert store.append(pending(), START_MS - 100).store_timestamp == START_MS


def test_arrivals_are_announced(store: MessageStore) -> None:
    seen: list[tuple[object, ...]] = []
    store.on_arrival = lambda *arrival: seen.append(arrival)
    store.append(pending(TAGS="TagA"), START_MS)
    store.append(pending(sys_flag=4), START_MS)
    store.append(pending(queue_id=3), START_MS)
    assert seen == [("T", 0, 0, (2598919,)), ("T", 3, 0, (0,))]


def test_half_messages_are_stored_but_not_queued(store: MessageStore) -> None:
    half = store.append(pending(sys_flag=4), START_MS)
    assert store.max_offset("T", 0) == 0
    assert store.record_at(half.log_offset) is not None


def test_a_record_too_large_changes_nothing(store: MessageStore) -> None:
    with pytest.raises(StoreError, match="do not fit a commit log file"):
        store.append(pending(body=b"x" * 5000), START_MS)
    assert store.max_offset("T", 0) == 0
    assert store.log_offsets == (0, 0)


def test_times_are_searched_at_both_ends(store: MessageStore) -> None:
    for second in (0, 10, 10, 20):
        store.append(pending(), START_MS + second)
    found = [
        store.offset_by_time("T", 0, START_MS + at) for at in (-1, 0, 1, 10, 20, 21)
    ]
    assert found == [0, 0, 1, 1, 3, 4]
    found = [
        store.offset_by_time("T", 0, START_MS + at, upper=True)
        for at in (-1, 0, 1, 10, 15, 20, 21)
    ]
    assert found == [0, 0, 0, 2, 2, 3, 3]


def test_a_queue_never_written_is_empty(store: MessageStore) -> None:
    assert (store.min_offset("T", 0), store.max_offset("T", 0)) == (0, 0)
    assert store.offset_by_time("T", 0, 5) == 0
    assert store.entry("T", 0, 0) is None
    assert store.store_timestamp("T", 0, 0) is None
    assert store.earliest_timestamp() is None
    assert store.queue_ids("T") == []


def test_store_times_are_known_by_offset(store: MessageStore) -> None:
    store.append(pending(), START_MS)
    store.append(pending(queue_id=4), START_MS + 9)
    assert store.store_timestamp("T", 4, 0) == START_MS + 9
    assert store.store_timestamp("T", 4, 1) is None
    assert store.earliest_timestamp() == START_MS
    assert store.queue_ids("T") == [0, 4]


def bodies(records: list[bytes]) -> list[bytes]:
    return [m.body for m in decode_records(b"".join(records), "b")]


def test_messages_are_found_by_key(store: MessageStore) -> None:
    for number in range(5):
        key = "even" if number % 2 == 0 else "odd"
        made = pending(body=b"%d" % number, KEYS=f"all {key}", UNIQ_KEY=f"U{number}")
        store.append(made, START_MS + number)
    store.append(pending("U", KEYS="all"), START_MS)

    def find(key: str, limit: int = 10, begin: int = 0, end: int = 10) -> list[bytes]:
        times = (START_MS + begin, START_MS + end)
        return bodies(store.find_by_key("T", key, limit, *times))

    assert find("even") == [b"0", b"2", b"4"]
    assert find("all", limit=2) == [b"3", b"4"]
    assert find("all", begin=1, end=2) == [b"1", b"2"]
    assert find("U3") == [b"3"]
    assert find("al") == find("none") == []


def test_expired_files_take_their_messages_along(store: MessageStore) -> None:
    for hour in range(6):
        now_ms = START_MS + hour * HOUR_MS
        store.append(pending(body=b"x" * 1500, KEYS="k"), now_ms)
    store.checkpoint()
    assert store.expire(START_MS + 5 * HOUR_MS, keep_ms=6 * HOUR_MS) == 0
    assert store.expire(START_MS + 6 * HOUR_MS, keep_ms=3 * HOUR_MS) == 1
    assert (store.min_offset("T", 0), store.max_offset("T", 0)) == (2, 6)
    assert store.log_offsets[0] == 4096
    assert len(store.find_by_key("T", "k", 99, 0, 1 << 60)) == 4
    assert store.earliest_timestamp() == START_MS + 2 * HOUR_MS


def test_a_log_past_its_size_loses_the_oldest_files(store: MessageStore) -> None:
    for _ in range(6):
        store.append(pending(body=b"x" * 1500), START_MS)
    assert store.expire(START_MS, keep_ms=HOUR_MS, max_bytes=8000) == 1
    assert store.expire(START_MS, keep_ms=HOUR_MS, max_bytes=0) == 1
    assert (store.min_offset("T", 0), store.max_offset("T", 0)) == (4, 6)


def test_queues_and_keys_count_as_part_of_the_size(store: MessageStore) -> None:
    keys = " ".join(f"{number:x}" for number in range(400))
    for _ in range(6):
        store.append(pending(body=b"x" * 100, KEYS=keys), START_MS)
    begin, end = store.log_offsets
    derived = store._index.total_bytes + 6 * 20
    assert derived > end - begin, "400 entries of 8 bytes a message"
    assert store.expire(START_MS, HOUR_MS, max_bytes=end - begin + derived) == 0
    assert store.expire(START_MS, HOUR_MS, max_bytes=end - begin) > 0
    left = store.log_offsets[1] - store.log_offsets[0] + store._index.total_bytes
    assert left <= end - begin


def test_a_file_whose_follower_is_empty_stays(
    store: MessageStore, tmp_path: Path
) -> None:
    store.append(pending(body=b"x" * 3000), START_MS)
    store.append(pending(body=b"x" * 3000), START_MS)
    store.drop_topic("T")
    assert store.expire(START_MS + HOUR_MS, keep_ms=0) == 1
    assert store.queue_ids("T") == []


def test_a_follower_without_a_record_says_nothing_of_age(store: MessageStore) -> None:
    store.append(pending(body=b"x" * 3000), START_MS)
    # The next file is made before a record is written to it: a full disk leaves this.
    store._log.place(3000)
    assert store.expire(START_MS + HOUR_MS, keep_ms=0) == 0
    assert store.max_offset("T", 0) == 1
    assert store.min_offset("T", 0) == 0


def test_a_key_whose_record_has_gone_leads_nowhere(store: MessageStore) -> None:
    for _ in range(2):
        store.append(pending(body=b"x" * 3000, KEYS="k"), START_MS)
    store._log.drop_oldest()
    assert len(store.find_by_key("T", "k", 9, 0, 1 << 60)) == 1


def test_properties_taken_apart_already_are_not_read_again(store: MessageStore) -> None:
    given = replace(pending(TAGS="other"), values={b"TAGS": b"TagA", b"KEYS": b"k"})
    store.append(given, START_MS)
    entry = store.entry("T", 0, 0)
    assert entry is not None
    assert entry[2] == 2598919


def test_a_dropped_topic_begins_again_at_zero(
    store: MessageStore, tmp_path: Path
) -> None:
    store.append(pending(), START_MS)
    store.append(pending("U"), START_MS)
    store.checkpoint()
    store.drop_topic("T")
    store.drop_topic("never")
    assert store.max_offset("T", 0) == 0
    assert store.max_offset("U", 0) == 1
    assert not (tmp_path / "store/consumequeue/T/0").exists()
    assert store.append(pending(), START_MS).queue_offset == 0


def test_only_named_topics_are_kept(store: MessageStore) -> None:
    for topic in ("T", "U", "V"):
        store.append(pending(topic), START_MS)
    store.keep_topics({"U"})
    assert [store.max_offset(topic, 0) for topic in ("T", "U", "V")] == [0, 1, 0]


def test_flushing_reaches_what_was_appended(store: MessageStore) -> None:
    place = store.append(pending(), START_MS)
    assert store.flushed_offset < place.end
    assert store.flush() == store.flushed_offset == place.end


def test_one_checkpoint_at_a_time(store: MessageStore) -> None:
    store.append(pending(), START_MS)
    work = store.begin_checkpoint()
    assert work is not None
    assert store.begin_checkpoint() is None
    with pytest.raises(StoreError, match="already at work"):
        store.checkpoint()
    work.run()
    store.end_checkpoint(work)
    store.checkpoint()


def test_a_failed_checkpoint_is_done_again(store: MessageStore, tmp_path: Path) -> None:
    store.append(pending(KEYS="k"), START_MS)
    in_the_way = tmp_path / "store/consumequeue"
    in_the_way.touch()
    with pytest.raises(OSError, match="consumequeue"):
        store.checkpoint()
    in_the_way.unlink()
    store.checkpoint()
    assert (in_the_way / "T/0").is_dir()


def test_a_topic_dropped_during_a_checkpoint_is_not_written(
    store: MessageStore, tmp_path: Path
) -> None:
    store.append(pending(), START_MS)
    work = store.begin_checkpoint()
    assert work is not None
    store.drop_topic("T")
    work.run()
    store.end_checkpoint(work)
    assert not (tmp_path / "store/consumequeue/T").exists()
    assert not (tmp_path / "store/checkpoint.json").exists()
    store.checkpoint()
    assert (tmp_path / "store/checkpoint.json").exists()


def test_a_store_belongs_to_one_opener(store: MessageStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="store is in use by another process"):
        MessageStore(tmp_path / "store", segment_bytes=4096)


def test_closing_during_a_checkpoint_writes_everything(
    store: MessageStore, tmp_path: Path
) -> None:
    store.append(pending(), START_MS)
    store.begin_checkpoint()
    store.close()
    again = MessageStore(tmp_path / "store", segment_bytes=4096)
    assert again.max_offset("T", 0) == 1
    again.close()
