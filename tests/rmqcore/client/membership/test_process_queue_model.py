"""The process queue beside a model that is slow and obvious."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rmqcore.client.membership.process_queue import ProcessQueue
from tests.rmqcore.client.records import QUEUE, message

NOW = 0
offset_lists = st.lists(st.integers(0, 30), max_size=8)


class ProcessQueueMachine(RuleBasedStateMachine):
    """Two plain dictionaries of body lengths, and the largest offset ever put."""

    def __init__(self) -> None:
        super().__init__()
        self.process = ProcessQueue(QUEUE, NOW)
        self.cached: dict[int, int] = {}
        self.taken: dict[int, int] = {}
        self.largest = -1

    @rule(offsets=offset_lists, length=st.integers(0, 9))
    def put(self, offsets: list[int], length: int) -> None:
        self.process.put_messages([message(o, body=b"x" * length) for o in offsets])
        for offset in offsets:
            if offset not in self.taken:
                self.cached[offset] = length
                self.largest = max(self.largest, offset)

    @rule(offsets=offset_lists)
    def remove(self, offsets: list[int]) -> None:
        had_any = bool(self.cached)
        answer = self.process.remove([message(o) for o in offsets], NOW)
        for offset in offsets:
            self.cached.pop(offset, None)
        assert answer == (self.expected_commit() if had_any else None)

    @rule(count=st.integers(0, 5))
    def take(self, count: int) -> None:
        taken = [m.queue_offset for m in self.process.take_messages(count, NOW)]
        assert taken == sorted(self.cached)[:count]
        for offset in taken:
            self.taken[offset] = self.cached.pop(offset)

    @rule()
    def commit(self) -> None:
        expected = max(self.taken) + 1 if self.taken else None
        assert self.process.commit() == expected
        self.taken.clear()

    @rule()
    def all_again(self) -> None:
        self.process.make_consumable_again(
            [message(offset, body=b"x" * size) for offset, size in self.taken.items()]
        )
        self.cached.update(self.taken)
        self.taken.clear()

    @rule(offset=st.integers(0, 30))
    def again(self, offset: int) -> None:
        if offset in self.taken:
            self.process.make_consumable_again([message(offset, body=b"ab")])
            del self.taken[offset]
            self.cached[offset] = 2

    def expected_commit(self) -> int | None:
        if self.cached:
            return min(self.cached)
        return self.largest + 1 if self.largest >= 0 else None

    @invariant()
    def agrees(self) -> None:
        process, cached = self.process, self.cached
        assert process.commit_offset() == self.expected_commit()
        assert process.first_offset == min(cached, default=None)
        assert process.last_offset == max(cached, default=None)
        assert process.max_span == (max(cached) - min(cached) if cached else 0)
        assert process.message_count == len(cached) + len(self.taken)
        assert process.size_bytes == sum(cached.values()) + sum(self.taken.values())


TestProcessQueueModel = ProcessQueueMachine.TestCase
TestProcessQueueModel.settings = settings(max_examples=150, stateful_step_count=30)
