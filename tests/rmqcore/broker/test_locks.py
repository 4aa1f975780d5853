import pytest

from rmqcore.broker.locks import QueueLocks
from rmqcore.model import MessageQueue

Q = [MessageQueue("T", "broker-a", number) for number in range(4)]


@pytest.fixture
def locks() -> QueueLocks:
    return QueueLocks()


def test_free_queues_are_locked(locks: QueueLocks) -> None:
    assert locks.lock("g", "a", Q[:2], 0) == Q[:2]
    assert locks.owner("g", Q[0], 0) == "a"
    assert locks.owner("g", Q[2], 0) is None


def test_another_client_gets_the_rest(locks: QueueLocks) -> None:
    locks.lock("g", "a", Q[:2], 0)
    assert locks.lock("g", "b", Q, 1) == Q[2:]


def test_groups_do_not_meet(locks: QueueLocks) -> None:
    locks.lock("g", "a", Q, 0)
    assert locks.lock("h", "b", Q, 0) == Q


def test_a_lock_lives_60_s_from_its_last_renewal(locks: QueueLocks) -> None:
    locks.lock("g", "a", Q[:1], 0)
    assert locks.lock("g", "a", Q[:1], 50_000) == Q[:1]
    assert locks.lock("g", "b", Q[:1], 110_000) == []
    assert locks.owner("g", Q[0], 110_000) == "a"
    assert locks.owner("g", Q[0], 110_001) is None
    assert locks.lock("g", "b", Q[:1], 110_001) == Q[:1]


def test_an_owner_takes_its_expired_lock_again(locks: QueueLocks) -> None:
    locks.lock("g", "a", Q[:1], 0)
    assert locks.lock("g", "a", Q[:1], 70_000) == Q[:1]
    assert locks.owner("g", Q[0], 130_000) == "a"


def test_only_the_owner_unlocks(locks: QueueLocks) -> None:
    locks.lock("g", "a", Q[:2], 0)
    locks.unlock("g", "b", Q)
    assert locks.owner("g", Q[0], 0) == "a"
    locks.unlock("g", "a", Q[:1])
    assert locks.owner("g", Q[0], 0) is None
    assert locks.owner("g", Q[1], 0) == "a"
    locks.unlock("g", "a", Q)
    locks.unlock("g", "a", Q)
    assert not locks.any_held("g", 0)


def test_a_group_is_told_to_hold_locks_until_all_expired(locks: QueueLocks) -> None:
    assert not locks.any_held("g", 0)
    locks.lock("g", "a", Q[:1], 0)
    locks.lock("g", "b", Q[1:], 30_000)
    assert locks.any_held("g", 90_000)
    assert not locks.any_held("g", 90_001)
