"""A running lite pull consumer: its queues, the messages that wait, its positions.

Queues come from rebalancing (subscribed topics) or from the application (assigned).
Pulled messages wait in one buffer for `poll`; a queue's position moves when its
messages are polled, and the position is what is committed: messages polled but not yet
committed come again after a crash.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue, QueueLimits
from rmqcore.client.membership.start_position import compute_pull_from_where
from rmqcore.errors import ArgumentError
from rmqcore.model import ConsumeType, MessageExt, MessageQueue
from rmqcore.protocol.bodies import ConsumeDirectlyResult, RunningProperty

from .member import Member
from .member_options import MemberOptions
from .pulling import PullSettings


class LiteMember(Member):
    """One group's lite pull consumption on one client."""

    consume_type = ConsumeType.PULL

    def __init__(
        self,
        context: GroupContext,
        options: MemberOptions,
        pull: PullSettings,
        limits: QueueLimits,
        *,
        assigns: bool,
        auto_commit: bool,
    ) -> None:
        super().__init__(context, options, pull, limits)
        self._assigns = assigns
        self._auto_commit = auto_commit
        self._gates: dict[MessageQueue, asyncio.Event] = {}
        self._positions: dict[MessageQueue, int] = {}
        self._buffer: deque[tuple[ProcessQueue, list[MessageExt]]] = deque()
        self._filled = asyncio.Event()

    async def close(self) -> None:
        """Persist and release everything held."""
        if self._auto_commit:
            # The application leaves by choice, so it is done with what it polled.
            self.commit()
        for gate in self._gates.values():
            gate.set()
        await super().close()

    # Polling

    def take(self, count: int) -> list[MessageExt]:
        """Return up to `count` waiting messages of one queue; empty when none wait."""
        while self._buffer:
            process, messages = self._buffer.popleft()
            if process.ending:
                continue
            taken, rest = messages[:count], messages[count:]
            if rest:
                self._buffer.appendleft((process, rest))
            process.remove(taken, self.context.now_ms())
            self._positions[process.queue] = taken[-1].queue_offset + 1
            return taken
        return []

    async def filled(self) -> None:
        """Return when messages may wait to be polled."""
        self._filled.clear()
        await self._filled.wait()

    def commit(self) -> list[MessageQueue]:
        """Turn positions into progress; return the queues that have one."""
        for queue, position in self._positions.items():
            if queue in self.context.held:
                self.context.offsets.update_offset(queue, position)
        return [queue for queue in self._positions if queue in self.context.held]

    # Queues

    async def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Hold exactly these queues from now on."""
        context = self.context
        self._assigns = True
        wanted = dict.fromkeys(queues)
        given_up = [held for held in context.held if held not in wanted]
        if self._auto_commit:
            self.commit()
        for queue in given_up:
            self.end(self._stop(queue))
            await context.offsets.persist(queue)
            context.offsets.remove_offset(queue)
        for queue in wanted:
            if queue in context.held:
                continue
            offset = await compute_pull_from_where(
                context.instance, context.offsets, self._start, queue
            )
            self._hold(queue, offset)
        for topic in sorted({queue.topic for queue in (*wanted, *given_up)}):
            context.tell_allocation(topic)

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue from an offset; waiting messages of the queue are dropped."""
        self._check_held(queue)
        self._stop(queue)
        self._hold(queue, offset)
        self._positions[queue] = offset

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Stop pulling these queues; what was pulled can still be polled."""
        for queue in queues:
            self._check_held(queue)
            self._gate(queue).clear()

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Pull these queues again."""
        for queue in queues:
            self._gate(queue).set()

    # For the instance

    def topics(self) -> Collection[str]:
        """Return the subscribed topics, or those of the assigned queues."""
        if self._assigns:
            return {queue.topic for queue in self.context.held}
        return super().topics()

    async def expire_stuck(self) -> None:
        """Do nothing: the application may take as long as it likes."""

    async def reset_offsets(
        self, topic: str, offsets: Mapping[MessageQueue, int]
    ) -> None:
        """Continue from these offsets, forward or back."""
        for queue, offset in offsets.items():
            if queue.topic == topic and queue in self.context.held:
                self.seek(queue, offset)
                self.context.offsets.update_offset(queue, offset)

    async def consume_directly(
        self, messages: Sequence[MessageExt]
    ) -> ConsumeDirectlyResult:
        """Answer that there is no listener to do it."""
        return ConsumeDirectlyResult(
            consume_result="CR_LATER", remark="a lite pull consumer has no listener"
        )

    # For the rebalancer

    def begin(self, process: ProcessQueue, offset: int) -> None:
        """Start to pull a queue."""
        self._begin_pulling(
            process,
            offset,
            deliver=self._deliver,
            restart=self._restart,
            resumed=self._gate(process.queue),
        )

    def end(self, process: ProcessQueue) -> None:
        """Stop pulling a queue and forget its position.

        Messages polled since the last commit may still be in work, so they do not
        count: the next owner begins with them.
        """
        super().end(process)
        self._positions.pop(process.queue, None)
        self._gates.pop(process.queue, None)

    # Private

    def _divides(self) -> bool:
        return self._open and not self._assigns

    def _properties(self) -> dict[str, str]:
        return {
            RunningProperty.THREADPOOL_CORE_SIZE: "1",
            "pullBatchSize": str(self._pull.batch_size),
        }

    def _deliver(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        process.put_messages(messages)
        self._buffer.append((process, messages))
        self._filled.set()

    async def _restart(self, offsets: Mapping[MessageQueue, int]) -> None:
        for queue, offset in offsets.items():
            if queue in self.context.held:
                self.seek(queue, offset)

    def _hold(self, queue: MessageQueue, offset: int) -> None:
        process = ProcessQueue(queue, self.context.now_ms())
        self.context.held[queue] = process
        self.begin(process, offset)

    def _stop(self, queue: MessageQueue) -> ProcessQueue:
        process = self.context.held.pop(queue)
        process.ending = process.dropped = True
        super().end(process)
        return process

    def _gate(self, queue: MessageQueue) -> asyncio.Event:
        gate = self._gates.get(queue)
        if gate is None:
            gate = self._gates[queue] = asyncio.Event()
            gate.set()
        return gate

    def _check_held(self, queue: MessageQueue) -> None:
        if queue not in self.context.held:
            raise ArgumentError(f"{queue} is not held by this consumer")
