"""What is found after a death: of the process, of the machine, of single files."""

import json
import logging
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rmqcore.errors import StoreError
from rmqcore.protocol.message import decode_records
from rmqcore.store import MessageStore, record
from rmqcore.store.segment import segment_name

from .records import START_MS, pending

SEGMENT = 4096


def opened(directory: Path) -> MessageStore:
    return MessageStore(directory, segment_bytes=SEGMENT)


def filled(directory: Path, count: int = 10, *, size: int = 900) -> MessageStore:
    store = opened(directory)
    for number in range(count):
        made = pending(
            queue_id=number % 2, body=b"%04d" % number + b"x" * size, KEYS=f"k{number}"
        )
        store.append(made, START_MS + number)
    return store


def bodies(store: MessageStore, queue_id: int = 0) -> list[int]:
    found = []
    offset = store.min_offset("T", queue_id)
    while True:
        result = store.read("T", queue_id, offset, 32)
        if not result.count:
            return found
        found += [int(m.body[:4]) for m in decode_records(result.body, "b")]
        offset = result.next_offset


def check(store: MessageStore, count: int = 10) -> None:
    numbers = list(range(count))
    assert bodies(store, 0) == numbers[::2]
    assert bodies(store, 1) == numbers[1::2]
    for number in numbers:
        assert len(store.find_by_key("T", f"k{number}", 9, 0, 1 << 60)) == 1
    assert store.newest_timestamp == START_MS + count - 1


def log_file(directory: Path, start: int = 0) -> Path:
    return directory / "commitlog" / segment_name(start)


def overwrite(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def test_a_new_store_is_empty(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert store.log_offsets == (0, 0)
    store.close()
    opened(tmp_path).close()


def test_after_a_clean_stop_everything_is_there(tmp_path: Path) -> None:
    filled(tmp_path).close()
    store = opened(tmp_path)
    check(store)
    assert store.append(pending(), START_MS + 99).queue_offset == 5
    store.close()


def test_after_a_death_everything_is_there(tmp_path: Path) -> None:
    filled(tmp_path).abandon()
    store = opened(tmp_path)
    check(store)
    store.close()


def test_a_death_after_a_checkpoint_reads_only_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path, 8)
    store.checkpoint()
    at = store.log_offsets[1]
    for number in (8, 9):
        made = pending(queue_id=number % 2, body=b"%04d" % number, KEYS=f"k{number}")
        store.append(made, START_MS + number)
    store.abandon()
    parsed: list[int] = []
    parse = record.parse
    monkeypatch.setattr(
        record,
        "parse",
        lambda data: (
            parsed.append(struct.unpack_from(">q", data, 28)[0]) or parse(data)
        ),
    )
    store = opened(tmp_path)
    # Two entries are compared with the log, two records are read again.
    assert len(parsed) == 4
    assert sorted(parsed)[-2] >= at
    monkeypatch.undo()
    check(store)
    store.close()


def test_a_death_between_queues_and_checkpoint_adds_nothing_twice(
    tmp_path: Path,
) -> None:
    store = filled(tmp_path, 5)
    store.checkpoint()
    saved = (tmp_path / "checkpoint.json").read_bytes()
    for number in range(5, 10):
        made = pending(queue_id=number % 2, body=b"%04d" % number, KEYS=f"k{number}")
        store.append(made, START_MS + number)
    store.checkpoint()
    store.abandon()
    (tmp_path / "checkpoint.json").write_bytes(saved)
    store = opened(tmp_path)
    check(store)
    store.close()


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(cut=st.integers(0, 10 * 1000), garbage=st.binary(max_size=300))
def test_a_torn_tail_is_cut_and_the_rest_kept(
    tmp_path_factory: pytest.TempPathFactory, cut: int, garbage: bytes
) -> None:
    directory = tmp_path_factory.mktemp("torn")
    store = filled(directory, 3, size=1000)
    ends = [0] + [
        sum(len(store.record_at(0) or b"") for _ in range(n)) for n in (1, 2, 3)
    ]
    store.abandon()
    cut = min(cut, ends[-1])
    overwrite(log_file(directory), cut, garbage + bytes(SEGMENT - cut - len(garbage)))
    store = opened(directory)
    whole = max(n for n, end in enumerate(ends) if end <= cut)
    assert store.log_offsets[1] == ends[whole]
    assert sorted(bodies(store, 0) + bodies(store, 1)) == list(range(whole))
    again = store.append(pending(queue_id=7), START_MS)
    store.abandon()
    store = opened(directory)
    assert store.record_at(again.log_offset) is not None
    assert store.max_offset("T", 7) == 1
    store.abandon()


def test_a_torn_tail_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = filled(tmp_path, 3)
    store.abandon()
    end = len(opened_record(tmp_path)) * 2
    overwrite(log_file(tmp_path), end + 95, b"?")
    with caplog.at_level(logging.WARNING):
        opened(tmp_path).abandon()
    assert f"log cut at {end}: the body does not match its CRC" in caplog.text


def opened_record(directory: Path) -> bytes:
    data = log_file(directory).read_bytes()
    return data[: struct.unpack_from(">i", data)[0]]


def test_a_file_begun_but_not_used_is_removed(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    store.abandon()
    log_file(tmp_path, SEGMENT).write_bytes(bytes(SEGMENT))
    store = opened(tmp_path)
    check(store, 3)
    assert not log_file(tmp_path, SEGMENT).exists()
    store.close()


Damage = Callable[[Path], object]


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: shutil.rmtree(d / "consumequeue"),
        lambda d: shutil.rmtree(d / "consumequeue/T/1"),
        lambda d: shutil.rmtree(d / "index"),
        lambda d: (d / "index" / segment_name(0)).unlink(),
        lambda d: (d / "checkpoint.json").unlink(),
        lambda d: (d / "checkpoint.json").write_text("{}"),
        lambda d: (d / "checkpoint.json").write_text("[]"),
        lambda d: (d / "checkpoint.json").write_text("torn"),
        lambda d: overwrite(d / "consumequeue/T/0" / segment_name(0), 80, b"\1" * 8),
        lambda d: overwrite(d / "consumequeue/T/0" / segment_name(0), 88, b"\1" * 4),
        lambda d: overwrite(d / "consumequeue/T/0" / segment_name(0), 80, bytes(8)),
    ],
)
def test_lost_derived_data_is_told_again_by_the_log(
    tmp_path: Path, damage: Damage
) -> None:
    filled(tmp_path).close()
    (tmp_path / "consumequeue/T/note").touch()
    damage(tmp_path)
    store = opened(tmp_path)
    check(store)
    store.close()


def test_damage_below_the_checkpoint_is_an_error(tmp_path: Path) -> None:
    filled(tmp_path).close()
    overwrite(log_file(tmp_path), 200, b"damage")
    (tmp_path / "checkpoint.json").write_bytes(
        (tmp_path / "checkpoint.json").read_bytes().replace(b'"entries": 10', b'"x": 1')
    )
    with pytest.raises(StoreError, match=r"at 0: .*CRC; records follow at 4096"):
        opened(tmp_path)


def test_damage_that_the_checkpoint_knows_about_is_an_error(tmp_path: Path) -> None:
    filled(tmp_path).close()
    overwrite(log_file(tmp_path), 200, b"damage")
    shutil.rmtree(tmp_path / "consumequeue")
    end = json.loads((tmp_path / "checkpoint.json").read_bytes())["log_offset"]
    with pytest.raises(StoreError, match=f"at 0: .*; {end} bytes were on the disk"):
        opened(tmp_path)


def test_missing_log_files_are_an_error(tmp_path: Path) -> None:
    filled(tmp_path).close()
    log_file(tmp_path, 2 * SEGMENT).unlink()
    with pytest.raises(StoreError, match=r"ends at 8192, but 1.* are missing"):
        opened(tmp_path)


def test_a_failed_opening_leaves_the_store_free(tmp_path: Path) -> None:
    filled(tmp_path).close()
    (tmp_path / "commitlog" / segment_name(SEGMENT)).unlink()
    for _ in range(2):
        with pytest.raises(StoreError, match="but the file before it ends at 4096"):
            opened(tmp_path)


def test_a_number_out_of_order_is_an_error(tmp_path: Path) -> None:
    store = filled(tmp_path, 3)
    store.abandon()
    number_of_third = 2 * len(opened_record(tmp_path)) + record.QUEUE_OFFSET_AT
    overwrite(log_file(tmp_path), number_of_third, struct.pack(">q", 7))
    with pytest.raises(StoreError, match="is number 7 of T-0, which is at 1"):
        opened(tmp_path)


def test_a_log_whose_beginning_expired_is_rebuilt(tmp_path: Path) -> None:
    store = filled(tmp_path)
    store.expire(START_MS, keep_ms=1 << 40, max_bytes=5000)
    first = store.min_offset("T", 0)
    assert first > 0
    store.close()
    shutil.rmtree(tmp_path / "consumequeue")
    store = opened(tmp_path)
    assert store.min_offset("T", 0) == first
    assert bodies(store, 0) == list(range(2 * first, 10, 2))
    store.close()


def test_a_checkpoint_older_than_the_log_is_not_used(tmp_path: Path) -> None:
    store = filled(tmp_path, 2)
    store.checkpoint()
    for number in range(8):
        store.append(pending(body=b"%04d" % number + b"x" * 900), START_MS)
    store.expire(START_MS, keep_ms=1 << 40, max_bytes=5000)
    numbers = store.min_offset("T", 0), store.max_offset("T", 0)
    store.abandon()
    store = opened(tmp_path)
    assert (store.min_offset("T", 0), store.max_offset("T", 0)) == numbers
    store.close()


def test_an_expired_queue_keeps_its_number(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for _ in range(3):
        store.append(pending("old"), START_MS)
    for _ in range(8):
        store.append(pending(body=b"x" * 2000), START_MS)
    store.checkpoint()
    store.expire(START_MS, keep_ms=1 << 40, max_bytes=5000)
    assert (store.min_offset("old", 0), store.max_offset("old", 0)) == (3, 3)
    store.close()
    overwrite(tmp_path / "consumequeue/T/0" / segment_name(0), 148, b"\7" * 4)
    for _ in range(2):
        store = opened(tmp_path)
        assert (store.min_offset("old", 0), store.max_offset("old", 0)) == (3, 3)
        store.close()


def test_a_topic_made_again_begins_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(4):
        store.append(pending(body=b"%04d" % number), START_MS)
    store.drop_topic("T")
    for number in (10, 11):
        store.append(pending(body=b"%04d" % number), START_MS)
    store.abandon()
    shutil.rmtree(tmp_path / "consumequeue", ignore_errors=True)
    (tmp_path / "checkpoint.json").unlink()
    store = opened(tmp_path)
    assert bodies(store) == [10, 11]
    store.close()


def test_half_messages_stay_out_of_queues(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append(pending(sys_flag=4), START_MS)
    store.append(pending(), START_MS)
    store.abandon()
    store = opened(tmp_path)
    assert store.max_offset("T", 0) == 1
    store.close()
