"""Rebalancing: bringing what a member holds in line with its part (C1).

For each topic: the part is computed anew; queues no longer in it are dropped (progress
persisted, then forgotten, lock given back); new ones are locked where order is kept,
get a start offset and a process queue, and are handed to the puller.

Invariants. One rebalance of a member runs at a time; further requests are merged into
one. Whatever cannot be learned (members, offsets) leaves the queues concerned as they
are and is tried again. A changed part renews the subscriptions' versions and goes to
the brokers by heartbeat before anything new is pulled. An orderly queue is released
only when its listener has finished, so that its next owner starts after it; until then
it is not taken again here either.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.client.membership.start_position import (
    StartPosition,
    compute_pull_from_where,
)
from rmqcore.errors import RmqError
from rmqcore.model import BrokerData, MessageModel, MessageQueue
from rmqcore.model.topic import RETRY_PREFIX

from .queue_locks import QueueLocks
from .rules import (
    Assigner,
    Division,
    divide,
    not_subscribed,
)

logger = logging.getLogger(__name__)

RETRY_AFTER_S: Final = 0.5
"""A rebalance that could not do everything is tried again after this pause."""

RELEASE_WAIT_S: Final = 20.0
"""How long the release of an orderly queue waits for its listener (Java's default)."""


class QueueWork(Protocol):
    """The part that pulls and consumes the queues that a member holds."""

    def begin(self, process: ProcessQueue, offset: int) -> None:
        """Start to pull a queue from an offset."""
        ...

    def end(self, process: ProcessQueue) -> None:
        """Stop pulling a queue, and begin no further message of it."""
        ...

    async def finished(self, process: ProcessQueue) -> None:
        """Wait until no listener is at work on the queue any more."""
        ...


class Rebalancer:
    """The rebalancing of one member. Belongs to one event loop.

    `assigner` may be replaced; the next rebalance divides by the new one.
    """

    def __init__(
        self,
        context: GroupContext,
        assigner: Assigner,
        start: StartPosition,
        work: QueueWork,
    ) -> None:
        self._context = context
        self.assigner = assigner
        self._start = start
        self._work = work
        self._locks = QueueLocks(context)
        self._turn = asyncio.Lock()
        self._wanted = False
        self._waiting: asyncio.Task[object] | None = None
        self._releasing: dict[MessageQueue, asyncio.Task[object]] = {}
        self._closed = False

    # What starts it

    def soon(self) -> None:
        """Rebalance at once, or once more after the one that is running."""
        if not self._wanted and not self._closed:
            self._wanted = True
            self._context.instance.spawn(self.now())

    async def now(self) -> bool:
        """Rebalance; return False when something has to be tried again."""
        async with self._turn:
            self._wanted = False
            if self._closed:
                return True
            complete = await self._rebalance()
        if not complete:
            self._later()
        return complete

    async def renew_locks(self) -> None:
        """Renew the brokers' locks; start queues whose lock had lapsed anew."""
        if not self._context.needs_locks:
            return
        anew = await self._locks.renew(dict(self._context.held))
        async with self._turn:
            for queue in anew:
                self._begin_anew(queue)

    async def restart_at(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Give queues up, persist these offsets for them, and take them again."""
        async with self._turn:
            held = self._context.held
            affected = {queue: held[queue] for queue in offsets if queue in held}
            for queue, process in affected.items():
                self._give_up(process)
                process.dropped = True
                self._context.offsets.update_and_freeze_offset(queue, offsets[queue])
            await asyncio.gather(*(self._release(each) for each in affected.values()))
            self._tell_topics(affected)
        self.soon()

    async def close(self) -> None:
        """Give everything up: persist, release, forget. No rebalance follows."""
        self._closed = True
        if self._waiting is not None:
            self._waiting.cancel()
        async with self._turn:
            processes = dict(self._context.held)
            for process in processes.values():
                self._give_up(process)
            releasing = list(self._releasing.values())
            await asyncio.gather(*(self._release(each) for each in processes.values()))
            await asyncio.gather(*releasing, return_exceptions=True)
            self._tell_topics(processes)

    async def abandon(self) -> None:
        """Stop everything at once: nothing is persisted, nothing released."""
        self._closed = True
        for process in list(self._context.held.values()):
            process.dropped = True
            self._give_up(process)
        releasing = list(self._releasing.values())
        for task in [*releasing, *([self._waiting] if self._waiting else [])]:
            task.cancel()
        await asyncio.gather(*releasing, return_exceptions=True)

    # One rebalance

    async def _rebalance(self) -> bool:
        complete = True
        fresh: list[tuple[ProcessQueue, int]] = []
        changed = dict.fromkeys(self._drop_strays())
        for topic in tuple(self._context.subscriptions.topics):
            division = await self._divide(topic)
            if division is None:
                complete = complete and topic.startswith(RETRY_PREFIX)
            elif division.changes:
                await self._drop(division.dropped + division.stalled)
                added, all_added = await self._add(division.added + division.stalled)
                fresh.extend(added)
                complete = complete and all_added
                changed[topic] = None
        self._announce(changed, fresh)
        return complete

    async def _divide(self, topic: str) -> Division | None:
        """Return what changes, or None when it cannot be known now."""
        context = self._context
        queues = context.instance.routes.subscribe_queues(topic)
        if queues is None:
            logger.info("group=%s topic=%s has no route", context.group, topic)
            return None
        client_ids: list[str] | None = []
        if context.message_model is MessageModel.CLUSTERING:
            client_ids = await context.instance.consumer_ids(topic, context.group)
        if client_ids is None:
            return None
        try:
            part = self.assigner.part(queues, client_ids)
        except Exception:
            # The strategy may be the application's own; if it fails, the part stays.
            logger.exception(
                "group=%s topic=%s strategy=%s failed",
                context.group,
                topic,
                self.assigner.strategy.name,
            )
            return None
        return divide(topic, part, context.held, context.now_ms())

    def _announce(
        self, topics: Iterable[str], fresh: Iterable[tuple[ProcessQueue, int]]
    ) -> None:
        """Tell observers and brokers of changed parts, then begin the new queues.

        Each queue begins when its own broker has been told: a broker that does not
        answer does not hold up the queues of others.
        """
        context = self._context
        by_broker: dict[str, list[tuple[ProcessQueue, int]]] = {}
        for process, offset in fresh:
            name = context.instance.routes.broker_name(process.queue)
            by_broker.setdefault(name, []).append((process, offset))
        changed = list(topics)
        for topic in changed:
            context.tell_allocation(topic)
        if changed:
            context.subscriptions.renew(changed, context.now_ms())
            for broker in context.instance.routes.brokers:
                begun = by_broker.get(broker.broker_name, ())
                context.instance.spawn(self._greet_then_begin(broker, begun))

    async def _greet_then_begin(
        self, broker: BrokerData, begun: Iterable[tuple[ProcessQueue, int]]
    ) -> None:
        await self._context.instance.greet(broker)
        for process, offset in begun:
            if not process.ending:
                self._work.begin(process, offset)

    # Taking queues

    async def _add(
        self, queues: Iterable[MessageQueue]
    ) -> tuple[list[tuple[ProcessQueue, int]], bool]:
        """Take queues; return those taken, with their starts, and whether all were."""
        context = self._context
        wanted = [queue for queue in queues if queue not in self._releasing]
        locked: dict[MessageQueue, int] = {}
        if context.needs_locks and wanted:
            locked = await self._locks.lock(wanted)
            context.tell_locks(locked, ())
        mine = [q for q in wanted if q in locked or not context.needs_locks]
        starts = await asyncio.gather(*(self._start_offset(queue) for queue in mine))
        added: list[tuple[ProcessQueue, int]] = []
        for queue, offset in zip(mine, starts, strict=True):
            if offset is None:
                continue
            process = ProcessQueue(queue, context.now_ms())
            if queue in locked:
                process.confirm_lock(locked[queue])
            context.held[queue] = process
            added.append((process, offset))
        return added, len(added) == len(wanted)

    async def _start_offset(self, queue: MessageQueue) -> int | None:
        context = self._context
        context.offsets.remove_offset(queue)
        try:
            return await compute_pull_from_where(
                context.instance, context.offsets, self._start, queue
            )
        except RmqError as error:
            logger.warning(
                "group=%s queue=%s start offset not known: %s",
                context.group,
                queue,
                error,
            )
            return None

    # Giving queues up

    async def _drop(self, queues: Iterable[MessageQueue]) -> None:
        given_up: list[ProcessQueue] = []
        for queue in queues:
            process = self._context.held[queue]
            self._give_up(process)
            if self._context.needs_locks:
                self._release_later(process)
            else:
                # The next owner starts now from what it finds: nothing to wait for.
                process.dropped = True
                given_up.append(process)
        await asyncio.gather(*(self._persist(process) for process in given_up))

    def _drop_strays(self) -> list[str]:
        """Drop queues of topics no longer subscribed to; return those topics."""
        context = self._context
        strays = not_subscribed(context.held, context.subscriptions.topics)
        for queue in strays:
            process = context.held[queue]
            self._give_up(process)
            self._release_later(process)
        return sorted({queue.topic for queue in strays})

    def _begin_anew(self, queue: MessageQueue) -> None:
        process = self._context.held.get(queue)
        if process is None:
            return
        # The results of its listener belong to a lock that had lapsed.
        process.dropped = True
        process.locked = False
        self._context.offsets.remove_offset(queue)
        self._give_up(process)
        self._release_later(process)
        self._tell_topics([queue])

    def _give_up(self, process: ProcessQueue) -> None:
        process.ending = True
        self._context.held.pop(process.queue, None)
        self._work.end(process)

    def _release_later(self, process: ProcessQueue) -> None:
        task = self._context.instance.spawn(self._release(process))
        self._releasing[process.queue] = task
        task.add_done_callback(lambda _: self._released(process.queue))

    def _released(self, queue: MessageQueue) -> None:
        self._releasing.pop(queue, None)
        # It may be ours again by now, and was left out while being released.
        self.soon()

    async def _release(self, process: ProcessQueue) -> None:
        try:
            async with asyncio.timeout(RELEASE_WAIT_S):
                await self._work.finished(process)
        except TimeoutError:
            process.try_unlock_times += 1
            logger.warning(
                "group=%s queue=%s released while its listener is at work",
                self._context.group,
                process.queue,
            )
        process.dropped = True
        await self._persist(process)
        if self._context.needs_locks and process.locked:
            await self._locks.unlock([process.queue])

    async def _persist(self, process: ProcessQueue) -> None:
        context, queue = self._context, process.queue
        try:
            await context.offsets.persist(queue)
            context.tell_commits([queue])
        except RmqError as error:
            logger.warning(
                "group=%s queue=%s progress not persisted: %s",
                context.group,
                queue,
                error,
            )
        context.offsets.remove_offset(queue)
        context.forget_commits(queue)

    def _tell_topics(self, queues: Iterable[MessageQueue]) -> None:
        for topic in sorted({queue.topic for queue in queues}):
            self._context.tell_allocation(topic)

    # Trying again

    def _later(self) -> None:
        if self._closed or (self._waiting is not None and not self._waiting.done()):
            return
        self._waiting = self._context.instance.spawn(self._wait_then_rebalance())

    async def _wait_then_rebalance(self) -> None:
        await self._context.instance.clock.sleep(RETRY_AFTER_S)
        self.soon()
