"""Brokers' locks of queues, as an orderly member sees them (C7, C8).

A lock is asked for before a queue is taken, renewed every 20 s in one request per
broker, and given back when the queue is. A lock that cannot be asked for is not held: a
broker that does not answer grants nothing, and trust in what it granted before ends by
itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.errors import RmqError
from rmqcore.model import MessageQueue

from .rules import apply_lock_answer, by_broker

logger = logging.getLogger(__name__)


class QueueLocks:
    """Locks of one member at the brokers of its queues."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context

    async def lock(self, queues: Iterable[MessageQueue]) -> dict[MessageQueue, int]:
        """Ask for locks; return those granted, with the time they count from (ms)."""
        answers = await asyncio.gather(
            *(self._ask(asked) for asked in self._by_broker(queues))
        )
        return {
            queue: sent_ms
            for answer in answers
            if answer is not None
            for sent_ms, granted in (answer,)
            for queue in granted
        }

    async def renew(
        self, held: Mapping[MessageQueue, ProcessQueue]
    ) -> list[MessageQueue]:
        """Renew the locks of held queues; return those that were gained anew.

        Another member may have consumed a queue gained anew: it has to be started again
        from the offset that the broker has.
        """
        context = self._context
        anew: list[MessageQueue] = []

        async def renew(asked: list[MessageQueue]) -> None:
            answer = await self._ask(asked)
            if answer is None:
                return
            sent_ms, granted = answer
            gained, lost = apply_lock_answer(asked, granted, held, sent_ms)
            context.tell_locks(gained, lost)
            for queue in lost:
                logger.warning("group=%s queue=%s lock lost", context.group, queue)
            anew.extend(gained)

        await asyncio.gather(*(renew(asked) for asked in self._by_broker(held)))
        return anew

    async def unlock(self, queues: Iterable[MessageQueue]) -> None:
        """Give locks back; one that cannot be given back expires by itself."""
        await asyncio.gather(
            *(self._give_back(given) for given in self._by_broker(queues))
        )

    def _by_broker(
        self, queues: Iterable[MessageQueue]
    ) -> Collection[list[MessageQueue]]:
        return by_broker(queues, self._context.instance.routes.broker_name).values()

    async def _ask(
        self, queues: list[MessageQueue]
    ) -> tuple[int, frozenset[MessageQueue]] | None:
        context = self._context
        sent_ms = context.now_ms()
        try:
            address = await context.instance.master(queues[0])
            granted = await context.instance.calls.lock(
                address, context.client_id, context.group, queues
            )
        except RmqError as error:
            logger.warning(
                "group=%s broker=%s no answer on locks of %d queues: %s",
                context.group,
                context.instance.routes.broker_name(queues[0]),
                len(queues),
                error,
            )
            return None
        return sent_ms, granted

    async def _give_back(self, queues: list[MessageQueue]) -> None:
        context = self._context
        try:
            address = await context.instance.master(queues[0])
            await context.instance.calls.unlock(
                address, context.client_id, context.group, queues
            )
        except RmqError as error:
            logger.warning(
                "group=%s broker=%s locks of %d queues not given back: %s",
                context.group,
                context.instance.routes.broker_name(queues[0]),
                len(queues),
                error,
            )
