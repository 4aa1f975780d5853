"""Offsets in memory and persisted: increases only where asked, frozen until removed."""

from __future__ import annotations

from collections.abc import Collection

from rmqcore.model import MessageQueue
from rmqcore.offsets import OffsetStore, ReadOffsetType

Q0 = MessageQueue("T", "broker-a", 0)
Q1 = MessageQueue("U", "broker-a", 1)
FROM_STORE = ReadOffsetType.READ_FROM_STORE
FROM_MEMORY = ReadOffsetType.READ_FROM_MEMORY
MEMORY_FIRST = ReadOffsetType.MEMORY_FIRST_THEN_STORE


class Kept(OffsetStore):
    """A store whose persisted offsets are a dictionary."""

    def __init__(self, **persisted: int) -> None:
        super().__init__()
        self.persisted = dict(persisted)

    async def load(self) -> None:
        """Do nothing, as where offsets are read queue by queue."""

    async def persist(self, queue: MessageQueue) -> None:
        await self.persist_all([queue])

    async def persist_all(self, queues: Collection[MessageQueue]) -> None:
        for queue, offset in self._known(queues).items():
            self.persisted[queue.topic] = offset

    async def _read(self, queue: MessageQueue) -> int | None:
        return self.persisted.get(queue.topic)


def test_an_update_may_go_back() -> None:
    store = Kept()
    store.update_offset(Q0, 9)
    store.update_offset(Q0, 4)
    assert store.clone_offset_table() == {Q0: 4}


def test_an_update_limited_to_increases_does_not_go_back() -> None:
    store = Kept()
    store.update_offset(Q0, 9)
    store.update_offset(Q0, 4, increase_only=True)
    assert store.clone_offset_table() == {Q0: 9}
    store.update_offset(Q0, 10, increase_only=True)
    assert store.clone_offset_table() == {Q0: 10}


def test_the_first_update_counts_as_an_increase() -> None:
    store = Kept()
    store.update_offset(Q0, 0, increase_only=True)
    assert store.clone_offset_table() == {Q0: 0}


def test_a_frozen_offset_ignores_updates() -> None:
    store = Kept()
    store.update_and_freeze_offset(Q0, 5)
    store.update_offset(Q0, 9)
    store.update_offset(Q1, 1)
    assert store.clone_offset_table() == {Q0: 5, Q1: 1}


def test_removing_a_queue_forgets_it_and_ends_its_freeze() -> None:
    store = Kept()
    store.update_and_freeze_offset(Q0, 5)
    store.remove_offset(Q0)
    assert store.clone_offset_table() == {}
    store.update_offset(Q0, 9)
    assert store.clone_offset_table() == {Q0: 9}


def test_removing_an_unknown_queue_is_allowed() -> None:
    Kept().remove_offset(Q0)


def test_a_clone_is_of_one_topic_or_of_all() -> None:
    store = Kept()
    store.update_offset(Q0, 1)
    store.update_offset(Q1, 2)
    assert store.clone_offset_table() == {Q0: 1, Q1: 2}
    assert store.clone_offset_table("U") == {Q1: 2}


def test_a_clone_is_a_copy() -> None:
    store = Kept()
    store.update_offset(Q0, 1)
    store.clone_offset_table()[Q0] = 7
    assert store.clone_offset_table() == {Q0: 1}


async def test_memory_comes_first_only_where_asked() -> None:
    store = Kept(T=5)
    store.update_offset(Q0, 8)
    assert await store.read_offset(Q0, FROM_MEMORY) == 8
    assert await store.read_offset(Q0, MEMORY_FIRST) == 8
    assert await store.read_offset(Q0, FROM_STORE) == 5
    assert await store.read_offset(Q0, FROM_MEMORY) == 5


async def test_what_is_read_is_remembered() -> None:
    store = Kept(T=5)
    assert await store.read_offset(Q0, FROM_MEMORY) is None
    assert await store.read_offset(Q0, MEMORY_FIRST) == 5
    assert store.clone_offset_table() == {Q0: 5}


async def test_what_was_never_committed_is_not_known() -> None:
    store = Kept()
    assert await store.read_offset(Q0, FROM_STORE) is None
    assert store.clone_offset_table() == {}


async def test_only_what_memory_knows_is_persisted() -> None:
    store = Kept()
    store.update_offset(Q0, 3)
    await store.persist_all([Q0, Q1])
    await store.persist(Q1)
    assert store.persisted == {"T": 3}
