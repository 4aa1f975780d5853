"""The process queue: commits (C5), flow control (C6), orderly taking (C9)."""

from __future__ import annotations

import pytest

from rmqcore.client.membership.process_queue import ProcessQueue, QueueLimits
from tests.rmqcore.client.records import QUEUE, message, messages

NOW = 1_700_000_000_000


@pytest.fixture
def process() -> ProcessQueue:
    return ProcessQueue(QUEUE, NOW)


def test_a_new_queue_is_empty(process: ProcessQueue) -> None:
    assert process.message_count == process.size_bytes == process.max_span == 0
    assert process.first_offset is process.last_offset is None
    assert process.commit_offset() is None
    assert process.taken_offsets is None


def test_put_messages_are_counted(process: ProcessQueue) -> None:
    process.put_messages(messages(range(10, 15)))
    assert process.message_count == process.cached_count == 5
    assert process.size_bytes == 50
    assert (process.first_offset, process.last_offset, process.max_span) == (10, 14, 4)


def test_a_message_put_twice_is_held_once(process: ProcessQueue) -> None:
    process.put_messages(messages([10, 11]))
    process.put_messages([message(10, body=b"123"), message(11)])
    assert process.message_count == 2
    assert process.size_bytes == 13


def test_a_message_that_was_taken_is_not_put_again(process: ProcessQueue) -> None:
    process.put_messages(messages([10]))
    process.take_messages(1, NOW)
    process.put_messages(messages([10, 11]))
    assert (process.taken_count, process.cached_count) == (1, 1)
    assert process.size_bytes == 20


# Committing (C5)


def test_the_smallest_offset_left_is_committed(process: ProcessQueue) -> None:
    process.put_messages(messages(range(10, 71)))
    assert process.remove(messages(range(20, 41)), NOW) == 10
    assert process.remove(messages(range(50, 71)), NOW) == 10
    assert process.remove(messages(range(11, 20)), NOW) == 10
    assert process.remove(messages([10]), NOW) == 41


def test_an_empty_queue_commits_what_follows_the_largest(process: ProcessQueue) -> None:
    process.put_messages(messages(range(10, 71)))
    process.remove(messages(range(11, 71)), NOW)
    assert process.remove(messages([10]), NOW) == 71


def test_gaps_of_filtered_messages_are_skipped(process: ProcessQueue) -> None:
    process.put_messages(messages([3, 7, 20]))
    assert process.remove(messages([3]), NOW) == 7
    assert process.remove(messages([20]), NOW) == 7
    assert process.remove(messages([7]), NOW) == 21


def test_the_largest_offset_left_is_the_last(process: ProcessQueue) -> None:
    process.put_messages(messages([3, 7, 20]))
    process.remove(messages([20]), NOW)
    assert (process.last_offset, process.max_span) == (7, 4)


def test_removing_from_an_empty_queue_commits_nothing(process: ProcessQueue) -> None:
    assert process.remove(messages([3]), NOW) is None
    assert process.last_consume_ms == NOW


def test_removing_what_is_not_held_changes_nothing(process: ProcessQueue) -> None:
    process.put_messages(messages([3]))
    assert process.remove(messages([4]), NOW) == 3
    assert process.size_bytes == 10


def test_the_commit_stays_known_after_a_clear(process: ProcessQueue) -> None:
    process.put_messages(messages([3, 4]))
    process.clear()
    assert process.message_count == process.size_bytes == 0
    assert process.commit_offset() == 5


# Flow control (C6)


def test_within_the_limits_nothing_waits(process: ProcessQueue) -> None:
    process.put_messages(messages(range(1000)))
    assert process.over_limit(QueueLimits()) is None


def test_too_many_messages_hold_the_pull_back(process: ProcessQueue) -> None:
    process.put_messages(messages(range(1001)))
    assert process.over_limit(QueueLimits()) == "1001 messages cached, limit 1000"


def test_too_many_bytes_hold_the_pull_back(process: ProcessQueue) -> None:
    process.put_messages(messages([1, 2]))
    assert process.over_limit(QueueLimits(max_bytes=19)) == "20 bytes cached, limit 19"
    assert process.over_limit(QueueLimits(max_bytes=20)) is None


def test_too_wide_a_span_holds_the_pull_back(process: ProcessQueue) -> None:
    process.put_messages(messages([10, 2010]))
    assert process.over_limit(QueueLimits()) is None
    process.put_messages(messages([2011]))
    assert process.over_limit(QueueLimits()) == "span of 2001 offsets, limit 2000"


def test_orderly_queues_have_no_span(process: ProcessQueue) -> None:
    process.put_messages(messages([10, 5000]))
    assert process.over_limit(QueueLimits(max_span=None)) is None


def test_taken_messages_count_for_the_limits(process: ProcessQueue) -> None:
    process.put_messages(messages(range(3)))
    process.take_messages(2, NOW)
    assert process.over_limit(QueueLimits(max_messages=2)) is not None


# Stuck messages


def test_stuck_messages_are_those_at_the_low_end(process: ProcessQueue) -> None:
    process.put_messages(messages(range(5)))
    process.begin_work(messages([0, 1]), NOW)
    process.begin_work(messages([3]), NOW)
    assert process.stuck(NOW + 1000, 1000) == []
    assert [m.queue_offset for m in process.stuck(NOW + 1001, 1000)] == [0, 1]


def test_at_most_sixteen_stuck_messages_are_given(process: ProcessQueue) -> None:
    process.put_messages(messages(range(40)))
    process.begin_work(messages(range(40)), NOW)
    process.remove(messages([0, 2]), NOW)
    found = [m.queue_offset for m in process.stuck(NOW + 9, 1)]
    assert found == [1, *range(3, 18)]


def test_a_message_begun_later_is_not_stuck(process: ProcessQueue) -> None:
    process.put_messages(messages([1, 2]))
    process.begin_work(messages([1]), NOW)
    process.begin_work(messages([2]), NOW + 9)
    assert [m.queue_offset for m in process.stuck(NOW + 10, 5)] == [1]


def test_a_finished_message_is_not_stuck(process: ProcessQueue) -> None:
    process.put_messages(messages([1, 2]))
    process.begin_work(messages([1]), NOW)
    process.end_work(messages([1]))
    assert process.stuck(NOW + 9, 1) == []


def test_the_last_listener_to_end_calls_whoever_waits(process: ProcessQueue) -> None:
    called: list[str] = []
    process.begin_work(messages([1]), NOW)
    process.begin_work(messages([2, 3]), NOW)
    process.when_idle(lambda: called.append("one"))
    process.when_idle(lambda: called.append("two"))
    process.end_work(messages([2, 3]))
    assert not called
    process.end_work(messages([1]))
    assert called == ["one", "two"]


def test_whoever_waits_is_called_once(process: ProcessQueue) -> None:
    called: list[str] = []
    process.when_idle(lambda: called.append("now"))
    process.begin_work(messages([1]), NOW)
    process.when_idle(lambda: called.append("later"))
    for _ in range(2):
        process.end_work(messages([1]))
        process.begin_work(messages([1]), NOW)
    assert called == ["now", "later"]


# Orderly


def test_one_task_is_started_for_messages_put(process: ProcessQueue) -> None:
    assert process.put_messages(messages([1]))
    assert not process.put_messages(messages([2]))


def test_an_empty_pull_starts_no_task(process: ProcessQueue) -> None:
    assert not process.put_messages([])


def test_a_task_that_finds_nothing_ends(process: ProcessQueue) -> None:
    process.put_messages(messages([1]))
    assert process.take_messages(5, NOW + 1)
    assert process.consuming
    assert process.take_messages(5, NOW + 2) == []
    assert not process.consuming
    assert process.last_consume_ms == NOW + 2
    assert process.put_messages(messages([2]))


def test_the_lowest_messages_are_taken(process: ProcessQueue) -> None:
    process.put_messages(messages([5, 6, 9]))
    assert [m.queue_offset for m in process.take_messages(2, NOW)] == [5, 6]
    assert process.taken_offsets == (5, 6)
    assert (process.first_offset, process.message_count) == (9, 3)


def test_a_commit_finishes_what_was_taken(process: ProcessQueue) -> None:
    process.put_messages(messages([5, 6, 9]))
    process.take_messages(2, NOW)
    assert process.commit() == 7
    assert (process.message_count, process.size_bytes) == (1, 10)
    assert process.commit() is None


def test_messages_that_failed_come_again(process: ProcessQueue) -> None:
    process.put_messages(messages([5, 6, 9]))
    process.make_consumable_again(process.take_messages(2, NOW))
    assert process.taken_count == 0
    assert process.size_bytes == 30
    assert [m.queue_offset for m in process.take_messages(9, NOW)] == [5, 6, 9]


def test_messages_come_again_with_their_new_count(process: ProcessQueue) -> None:
    process.put_messages(messages([5, 6]))
    process.take_messages(2, NOW)
    process.make_consumable_again([message(5, reconsume_times=1, body=b"x")])
    assert process.taken_offsets == (6, 6)
    assert process.size_bytes == 11
    assert process.take_messages(1, NOW)[0].reconsume_times == 1


def test_a_message_not_taken_can_be_put_back_all_the_same(
    process: ProcessQueue,
) -> None:
    process.make_consumable_again(messages([5]))
    assert (process.first_offset, process.size_bytes) == (5, 10)


# Locks and age


def test_a_lock_is_trusted_for_thirty_seconds(process: ProcessQueue) -> None:
    assert not process.holds_lock(NOW)
    process.confirm_lock(NOW)
    assert process.holds_lock(NOW + 30_000)
    assert not process.holds_lock(NOW + 30_001)


def test_a_queue_not_pulled_for_two_minutes_has_expired(process: ProcessQueue) -> None:
    assert not process.pull_expired(NOW + 120_000)
    assert process.pull_expired(NOW + 120_001)
