from pathlib import Path

from rmqcore.store.key_index import KeyIndex, key_hash

MANY = 7


def save(index: KeyIndex) -> None:
    for keys in index.unsaved():
        keys.write()
        index.mark_saved(keys)


def test_candidates_come_newest_first(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 10, [1, 2])
    index.append(0, 20, [2])
    index.append(4096, 4100, [2, 3])
    assert list(index.candidates(2)) == [4100, 20, 10]
    assert list(index.candidates(1)) == [10]
    assert list(index.candidates(9)) == []


def test_topics_keep_equal_keys_apart() -> None:
    assert key_hash(b"T", b"k") == key_hash(b"T", b"k")
    assert key_hash(b"T", b"k") != key_hash(b"U", b"k")


def test_a_hash_across_two_fields_is_no_match(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 0x00000001, [0x01010101])
    assert list(index.candidates(0x01010100)) == []
    assert list(index.candidates(0x01010000)) == []


def test_saved_keys_are_found_again(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 10, [MANY])
    save(index)
    index.append(0, 20, [MANY])
    index.append(4096, 4196, [MANY])
    save(index)
    assert index.unsaved() == []
    assert list(index.candidates(MANY)) == [4196, 20, 10]
    again = KeyIndex(tmp_path)
    assert list(again.candidates(MANY)) == [4196, 20, 10]


def test_a_reopened_file_goes_on(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 10, [MANY])
    save(index)
    again = KeyIndex(tmp_path)
    again.append(0, 20, [MANY])
    (unsaved,) = again.unsaved()
    assert (unsaved.at, len(unsaved.data)) == (8, 8)
    save(again)
    assert list(KeyIndex(tmp_path).candidates(MANY)) == [20, 10]


def test_a_torn_entry_is_written_over(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 10, [MANY])
    save(index)
    with (tmp_path / ("0" * 20)).open("ab") as file:
        file.write(b"torn")
    again = KeyIndex(tmp_path)
    again.append(0, 20, [MANY])
    save(again)
    assert (tmp_path / ("0" * 20)).stat().st_size == 16


def test_a_saving_that_was_overtaken_is_forgotten(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.append(0, 10, [MANY])
    (unsaved,) = index.unsaved()
    index.drop_from(0)
    index.mark_saved(unsaved)
    assert list(index.candidates(MANY)) == []


def test_expired_files_are_forgotten(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    for start in (0, 100, 200):
        index.append(start, start, [MANY])
    save(index)
    index.drop_before(200)
    assert list(index.candidates(MANY)) == [200]
    assert [path.name for path in tmp_path.iterdir()] == [f"{200:020d}"]


def test_entries_behind_an_offset_are_cut(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    index.drop_from(0)
    for start, at in ((0, 10), (0, 20), (0, 30), (100, 100)):
        index.append(start, at, [MANY])
    save(index)
    again = KeyIndex(tmp_path)
    again.drop_from(20)
    assert list(again.candidates(MANY)) == [10]
    again.append(0, 20, [MANY])
    save(again)
    assert list(KeyIndex(tmp_path).candidates(MANY)) == [20, 10]


def test_keys_in_memory_are_dropped_from_an_offset_on(tmp_path: Path) -> None:
    index = KeyIndex(tmp_path)
    for log_offset in (10, 20, 30):
        index.append(0, log_offset, [MANY])
    index.drop_from(20)
    assert list(index.candidates(MANY)) == [10]
