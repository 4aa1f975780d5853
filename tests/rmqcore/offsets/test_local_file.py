"""The offsets file of a broadcasting member: backup, atomic replacement, sharing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.model import MessageQueue
from rmqcore.offsets import (
    FoundIn,
    LocalFileOffsetStore,
    ReadOffsetType,
    decode_offsets,
    default_offsets_directory,
    encode_offsets,
)

Q0 = MessageQueue("T", "broker-a", 0)
Q1 = MessageQueue("T", "broker-a", 1)
FROM_STORE = ReadOffsetType.READ_FROM_STORE
FROM_MEMORY = ReadOffsetType.READ_FROM_MEMORY
MEMORY_FIRST = ReadOffsetType.MEMORY_FIRST_THEN_STORE


@pytest.fixture
def store(tmp_path: Path) -> LocalFileOffsetStore:
    return LocalFileOffsetStore(tmp_path, "10.0.0.1@DEFAULT", "G")


async def again(store: LocalFileOffsetStore) -> LocalFileOffsetStore:
    """Return what a client that starts anew would have."""
    root, client_id, group = store.path.parts[:-3], *store.path.parts[-3:-1]
    other = LocalFileOffsetStore(Path(*root), client_id, group)
    await other.load()
    return other


async def persisted(store: LocalFileOffsetStore, *offsets: int) -> None:
    for offset in offsets:
        store.update_offset(Q0, offset)
        await store.persist(Q0)


def test_the_default_folder_is_that_of_java_clients() -> None:
    assert default_offsets_directory() == Path.home() / ".rocketmq_offsets"


def test_the_path_is_client_id_then_group(
    store: LocalFileOffsetStore, tmp_path: Path
) -> None:
    assert store.path == tmp_path / "10.0.0.1@DEFAULT" / "G" / "offsets.json"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArgumentError, match="client id"):
        LocalFileOffsetStore(tmp_path, name, "G")
    with pytest.raises(ArgumentError, match="group"):
        LocalFileOffsetStore(tmp_path, "c", name)


async def test_without_files_nothing_is_known(store: LocalFileOffsetStore) -> None:
    await store.load()
    assert store.loaded.found_in is FoundIn.NOWHERE
    assert await store.read_offset(Q0, MEMORY_FIRST) is None


async def test_what_was_persisted_is_loaded(store: LocalFileOffsetStore) -> None:
    await persisted(store, 5)
    other = await again(store)
    assert other.loaded.found_in is FoundIn.MAIN
    assert await other.read_offset(Q0, FROM_MEMORY) == 5


async def test_the_version_before_is_kept(store: LocalFileOffsetStore) -> None:
    await persisted(store, 5, 7)
    assert decode_offsets(store.path.read_bytes()) == {Q0: 7}
    assert decode_offsets(store.backup_path.read_bytes()) == {Q0: 5}


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"{oops")])
async def test_the_backup_is_used_when_the_file_is_lost_or_broken(
    store: LocalFileOffsetStore, harm: Callable[[Path], object]
) -> None:
    await persisted(store, 5, 7)
    harm(store.path)
    other = await again(store)
    assert other.loaded.found_in is FoundIn.BACKUP
    assert other.loaded.problem
    assert await other.read_offset(Q0, FROM_STORE) == 5


async def test_an_empty_file_counts_as_lost(store: LocalFileOffsetStore) -> None:
    await persisted(store, 5, 7)
    store.path.write_bytes(b"")
    assert (await again(store)).loaded.found_in is FoundIn.BACKUP


async def test_a_broken_file_without_backup_leaves_nothing(
    store: LocalFileOffsetStore,
) -> None:
    await persisted(store, 5)
    store.path.write_bytes(b"{oops")
    other = await again(store)
    assert other.loaded.found_in is FoundIn.NOWHERE
    assert "offsets.json" in (other.loaded.problem or "")


async def test_with_both_files_broken_loading_is_refused(
    store: LocalFileOffsetStore,
) -> None:
    await persisted(store, 5, 7)
    store.path.write_bytes(b"{oops")
    store.backup_path.write_bytes(b"{oops")
    with pytest.raises(StoreError, match=r"offsets\.json\.bak"):
        await again(store)


async def test_a_broken_file_never_becomes_the_backup(
    store: LocalFileOffsetStore,
) -> None:
    await persisted(store, 5, 7)
    store.path.write_bytes(b"{oops")
    await persisted(store, 9)
    assert decode_offsets(store.path.read_bytes()) == {Q0: 9}
    assert decode_offsets(store.backup_path.read_bytes()) == {Q0: 5}


async def test_entries_of_others_are_kept(store: LocalFileOffsetStore) -> None:
    other = await again(store)
    await persisted(store, 5)
    other.update_offset(Q1, 3)
    await other.persist(Q1)
    assert decode_offsets(store.path.read_bytes()) == {Q0: 5, Q1: 3}


async def test_only_the_queues_asked_for_are_persisted(
    store: LocalFileOffsetStore,
) -> None:
    store.update_offset(Q0, 5)
    store.update_offset(Q1, 6)
    await store.persist_all([Q1])
    assert decode_offsets(store.path.read_bytes()) == {Q1: 6}


async def test_nothing_to_persist_writes_nothing(store: LocalFileOffsetStore) -> None:
    await store.persist_all([Q0])
    assert not store.path.exists()


async def test_no_temporary_file_is_left(store: LocalFileOffsetStore) -> None:
    await persisted(store, 1, 2, 3)
    assert {path.name for path in store.path.parent.iterdir()} == {
        "offsets.json",
        "offsets.json.bak",
    }


async def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    store = LocalFileOffsetStore(blocked, "c", "G")
    store.update_offset(Q0, 1)
    with pytest.raises(StoreError, match="cannot be written"):
        await store.persist(Q0)


async def test_a_failed_replacement_leaves_the_old_file(
    store: LocalFileOffsetStore,
) -> None:
    await persisted(store, 1)
    store.backup_path.mkdir()  # a folder cannot be replaced by a file
    store.update_offset(Q0, 2)
    with pytest.raises(StoreError):
        await store.persist(Q0)
    assert decode_offsets(store.path.read_bytes()) == {Q0: 1}
    assert len(list(store.path.parent.iterdir())) == 2


async def test_the_file_is_read_anew_when_asked(store: LocalFileOffsetStore) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.write_bytes(encode_offsets({Q0: 5}))
    assert await store.read_offset(Q0, FROM_MEMORY) is None
    assert await store.read_offset(Q0, MEMORY_FIRST) == 5


async def test_removing_ends_a_freeze_and_keeps_the_offset(
    store: LocalFileOffsetStore,
) -> None:
    store.update_and_freeze_offset(Q0, 5)
    store.update_offset(Q0, 9)
    assert store.clone_offset_table() == {Q0: 5}
    store.remove_offset(Q0)
    store.update_offset(Q0, 9, increase_only=True)
    assert store.clone_offset_table("T") == {Q0: 9}


def test_removing_an_unknown_queue_adds_nothing(store: LocalFileOffsetStore) -> None:
    store.remove_offset(Q0)
    assert store.clone_offset_table() == {}
