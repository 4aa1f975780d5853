"""The shared state of one group member's parts: identity, queues held, observer."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.model import MessageModel, MessageQueue, sorted_queues
from rmqcore.offsets import OffsetStore

from .events import (
    AllocationChanged,
    Event,
    EventCallback,
    LockGained,
    LockLost,
    OffsetCommitted,
    PullDelayed,
)
from .process_queue import ProcessQueue
from .statistics import TopicStatistics
from .subscriptions import Subscriptions

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class GroupContext:
    """The state of one member of one group, changed by its own parts only."""

    instance: ClientInstance
    group: str
    message_model: MessageModel
    orderly: bool
    offsets: OffsetStore
    subscriptions: Subscriptions
    on_event: EventCallback | None = None
    held: dict[MessageQueue, ProcessQueue] = field(default_factory=dict)
    statistics: dict[str, TopicStatistics] = field(default_factory=dict)
    _committed: dict[MessageQueue, int] = field(default_factory=dict)

    @property
    def client_id(self) -> str:
        """The client id of the member's instance."""
        return self.instance.client_id

    @property
    def needs_locks(self) -> bool:
        """Whether queues are consumed under a broker's lock (C7)."""
        return self.orderly and self.message_model is MessageModel.CLUSTERING

    def now_ms(self) -> int:
        """Return the instance's time."""
        return self.instance.now_ms()

    def statistics_of(self, topic: str) -> TopicStatistics:
        """Return the counts of a topic, made when first asked for."""
        found = self.statistics.get(topic)
        if found is None:
            found = self.statistics[topic] = TopicStatistics()
        return found

    # Progress

    async def persist_offsets(self) -> None:
        """Persist the offsets of the queues that are ours beyond doubt.

        A queue whose lock is not held may belong to another member by now, and our
        older offset would set its new owner back.
        """
        now_ms = self.now_ms()
        queues = [
            queue
            for queue, process in self.held.items()
            if not self.needs_locks or process.holds_lock(now_ms)
        ]
        await self.offsets.persist_all(queues)
        self.tell_commits(queues)

    def tell_commits(self, queues: Iterable[MessageQueue]) -> None:
        """Tell the observer which offsets have been persisted since the last report."""
        if self.on_event is None:
            return
        known = self.offsets.clone_offset_table()
        for queue in queues:
            offset = known.get(queue)
            if offset is not None and self._committed.get(queue) != offset:
                self._committed[queue] = offset
                self._tell(OffsetCommitted(*self._who(), queue, offset))

    def forget_commits(self, queue: MessageQueue) -> None:
        """Forget what was reported about a queue that is given up."""
        self._committed.pop(queue, None)

    # Events

    def tell_allocation(self, topic: str) -> None:
        """Tell the observer the queues of a topic that are held from now on."""
        mine = sorted_queues(queue for queue in self.held if queue.topic == topic)
        logger.info(
            "group=%s client=%s topic=%s holds %d queues",
            self.group,
            self.client_id,
            topic,
            len(mine),
        )
        self._tell(AllocationChanged(*self._who(), topic, tuple(mine)))

    def tell_locks(
        self, gained: Iterable[MessageQueue], lost: Iterable[MessageQueue]
    ) -> None:
        """Tell the observer of locks that a broker gave or refused."""
        for queue in gained:
            self._tell(LockGained(*self._who(), queue))
        for queue in lost:
            self._tell(LockLost(*self._who(), queue))

    def tell_delay(self, queue: MessageQueue, reason: str) -> None:
        """Tell the observer that flow control holds a queue back."""
        self._tell(PullDelayed(*self._who(), queue, reason))

    def _who(self) -> tuple[str, str, int]:
        return self.group, self.client_id, self.now_ms()

    def _tell(self, event: Event) -> None:
        if self.on_event is None:
            return
        try:
            self.on_event(event)
        except Exception:
            # An observer's mistake must not end a pull or a rebalance.
            logger.exception("group=%s observer failed on %s", self.group, event)
