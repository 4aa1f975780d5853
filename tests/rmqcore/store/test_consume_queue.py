from pathlib import Path

import pytest

from rmqcore.errors import StoreError
from rmqcore.store import consume_queue
from rmqcore.store.consume_queue import ConsumeQueue


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three entries to a file and two kept in memory, so that few entries do."""
    monkeypatch.setattr(consume_queue, "_ENTRIES_PER_FILE", 3)
    monkeypatch.setattr(consume_queue, "_KEPT_ENTRIES", 2)


def filled(directory: Path, count: int) -> ConsumeQueue:
    queue = ConsumeQueue(directory)
    for number in range(count):
        queue.append(number * 100, 100, number)
    return queue


def save(queue: ConsumeQueue) -> None:
    unsaved = queue.unsaved()
    assert unsaved is not None
    unsaved.write()
    queue.mark_saved(unsaved)


def numbers(queue: ConsumeQueue, first: int, count: int) -> list[int]:
    return [code for _, _, code in queue.entries(first, count)]


def files(directory: Path) -> dict[int, int]:
    return {int(p.name): p.stat().st_size // 20 for p in sorted(directory.iterdir())}


def test_an_empty_queue_costs_no_file(tmp_path: Path) -> None:
    queue = ConsumeQueue(tmp_path / "q")
    assert (queue.min, queue.max, queue.is_empty) == (0, 0, True)
    assert queue.unsaved() is None
    assert queue.entry(0) is None
    assert not (tmp_path / "q").exists()


def test_entries_are_numbered_without_gaps(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 5)
    assert (queue.min, queue.max) == (0, 5)
    assert queue.entry(3) == (300, 100, 3)
    assert queue.entry(5) is None
    assert numbers(queue, 1, 10) == [1, 2, 3, 4]


def test_saved_entries_fill_files_of_their_size(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 8)
    save(queue)
    assert files(tmp_path / "q") == {0: 3, 3: 3, 6: 2}
    assert queue.unsaved() is None
    assert numbers(queue, 0, 8) == list(range(8))


def test_later_entries_go_on_in_the_last_file(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 2)
    save(queue)
    for number in range(2, 5):
        queue.append(number * 100, 100, number)
    save(queue)
    assert files(tmp_path / "q") == {0: 3, 3: 2}
    again = ConsumeQueue(tmp_path / "q")
    assert (again.min, again.max) == (0, 5)
    assert numbers(again, 0, 5) == list(range(5))


def test_reading_goes_from_files_over_into_memory(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 7)
    save(queue)
    queue.append(700, 100, 7)
    for first in range(8):
        assert numbers(queue, first, 8) == list(range(first, 8))
    assert numbers(queue, 1, 2) == [1, 2]


def test_writing_the_same_entries_twice_does_no_harm(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 4)
    unsaved = queue.unsaved()
    assert unsaved is not None
    assert unsaved.end == 4
    unsaved.write()
    unsaved.write()
    assert files(tmp_path / "q") == {0: 3, 3: 1}


def test_entries_appended_while_saving_stay_unsaved(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 2)
    unsaved = queue.unsaved()
    queue.append(200, 100, 2)
    assert unsaved is not None
    unsaved.write()
    queue.mark_saved(unsaved)
    left = queue.unsaved()
    assert left is not None
    assert (left.first, left.end) == (2, 3)


def test_a_saving_that_was_overtaken_is_forgotten(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 2)
    unsaved = queue.unsaved()
    queue.begin_at(9)
    assert unsaved is not None
    queue.mark_saved(unsaved)
    assert (queue.min, queue.max) == (9, 9)


def test_search_finds_the_first_not_below(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 7)
    save(queue)
    offsets = [queue.search(at, lambda entry: entry[0]) for at in (-1, 0, 1, 600, 601)]
    assert offsets == [0, 0, 1, 6, 7]


def test_expired_entries_leave_with_whole_files(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 8)
    save(queue)
    queue.drop_before_log_offset(350)
    assert (queue.min, queue.entry(3)) == (4, None)
    assert files(tmp_path / "q") == {3: 3, 6: 2}
    queue.drop_before_log_offset(10_000)
    assert (queue.min, queue.max, queue.is_empty) == (8, 8, True)
    assert files(tmp_path / "q") == {6: 2}


@pytest.mark.parametrize("end", range(9))
def test_entries_behind_an_offset_are_cut(tmp_path: Path, end: int) -> None:
    queue = filled(tmp_path / "q", 8)
    save(queue)
    queue = ConsumeQueue(tmp_path / "q")
    queue.drop_from_log_offset(end * 100)
    assert queue.max == end
    assert numbers(queue, 0, 8) == list(range(end))
    queue.append(end * 100, 100, end)
    save(queue)
    assert numbers(ConsumeQueue(tmp_path / "q"), 0, 9) == list(range(end + 1))


def test_a_torn_entry_is_no_entry(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 2)
    save(queue)
    with (tmp_path / "q" / ("0" * 20)).open("ab") as file:
        file.write(b"torn")
    again = ConsumeQueue(tmp_path / "q")
    assert again.max == 2
    again.append(200, 100, 2)
    save(again)
    assert files(tmp_path / "q") == {0: 3}
    assert numbers(ConsumeQueue(tmp_path / "q"), 0, 3) == [0, 1, 2]


def test_a_queue_may_begin_at_any_number(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 4)
    save(queue)
    queue.begin_at(100)
    assert (queue.min, queue.max) == (100, 100)
    again = ConsumeQueue(tmp_path / "q")
    assert (again.min, again.max, again.is_empty) == (100, 100, True)
    again.append(5, 5, 5)
    save(again)
    assert files(tmp_path / "q") == {100: 1}
    again.begin_at(0)
    assert (again.max, (tmp_path / "q").exists()) == (0, False)


def test_an_empty_numbered_queue_survives_the_cut(tmp_path: Path) -> None:
    ConsumeQueue(tmp_path / "q").begin_at(100)
    queue = ConsumeQueue(tmp_path / "q")
    queue.drop_from_log_offset(0)
    assert ConsumeQueue(tmp_path / "q").max == 100


def test_a_missing_entry_is_named(tmp_path: Path) -> None:
    queue = filled(tmp_path / "q", 6)
    save(queue)
    (tmp_path / "q" / ("0" * 20)).write_bytes(b"")
    with pytest.raises(StoreError, match="entry 0 is missing"):
        list(queue.entries(0, 1))


def test_an_empty_queue_has_nothing_to_drop(tmp_path: Path) -> None:
    queue = ConsumeQueue(tmp_path / "q")
    queue.drop_from_log_offset(0)
    assert (queue.min, queue.max) == (0, 0)
    queue.append(0, 100, 7)
    save(queue)
    assert numbers(ConsumeQueue(tmp_path / "q"), 0, 9) == [7]
