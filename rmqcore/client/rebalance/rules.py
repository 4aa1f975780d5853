"""The decisions of a rebalance, without carrying them out (behaviour B8, C1).

They are pure: which queues a member should own, what that adds to and drops from what
it holds, and which of the held ones have to be made anew because their pulling died.
Every member of a group computes this on its own from the same sorted input; whatever
fails leaves the previous assignment as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rmqcore.allocation import AllocateStrategy
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.model import (
    MessageModel,
    MessageQueue,
    sorted_client_ids,
    sorted_queues,
)

BROKER_LOCK_MS: Final = 60_000
"""A broker gives a lock to another client when it was not renewed for this long."""


@dataclass(frozen=True, slots=True)
class Division:
    """The changes that one rebalance of one topic makes for one member.

    `owned` is the member's whole part; `stalled` are queues in it that are held but
    have not been pulled for two minutes, to be dropped and taken anew.
    """

    topic: str
    owned: tuple[MessageQueue, ...]
    added: tuple[MessageQueue, ...]
    dropped: tuple[MessageQueue, ...]
    stalled: tuple[MessageQueue, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything has to be done."""
        return bool(self.added or self.dropped or self.stalled)


@dataclass(frozen=True, slots=True)
class Assigner:
    """Computes a member's part by its group, id, mode and strategy."""

    group: str
    client_id: str
    message_model: MessageModel
    strategy: AllocateStrategy

    def part(
        self, queues: Iterable[MessageQueue], client_ids: Iterable[str]
    ) -> list[MessageQueue]:
        """Return the member's queues of one topic.

        A broadcasting member takes all of them and asks nobody. Raises
        `AllocationError` as the strategy does (B7); a client id that the group does not
        list gets nothing.
        """
        in_order = sorted_queues(queues)
        if self.message_model is MessageModel.BROADCASTING:
            return in_order
        return self.strategy.allocate(
            self.group, self.client_id, in_order, sorted_client_ids(client_ids)
        )


def divide(
    topic: str,
    part: Iterable[MessageQueue],
    held: Mapping[MessageQueue, ProcessQueue],
    now_ms: int,
) -> Division:
    """Compare a member's part of `topic` with the queues it holds."""
    owned = dict.fromkeys(part)
    mine = {queue: process for queue, process in held.items() if queue.topic == topic}
    return Division(
        topic,
        tuple(owned),
        added=tuple(queue for queue in owned if queue not in mine),
        dropped=tuple(queue for queue in mine if queue not in owned),
        stalled=tuple(
            queue
            for queue, process in mine.items()
            if queue in owned and process.pull_expired(now_ms)
        ),
    )


def not_subscribed(
    held: Iterable[MessageQueue], topics: Collection[str]
) -> list[MessageQueue]:
    """Return the held queues of topics that are no longer subscribed."""
    return [queue for queue in held if queue.topic not in topics]


def by_broker(
    queues: Iterable[MessageQueue], broker_name: Callable[[MessageQueue], str]
) -> dict[str, list[MessageQueue]]:
    """Group queues by broker: locks go in one batch request each (C8)."""
    grouped: dict[str, list[MessageQueue]] = {}
    for queue in queues:
        grouped.setdefault(broker_name(queue), []).append(queue)
    return grouped


def apply_lock_answer(
    asked: Iterable[MessageQueue],
    granted: Collection[MessageQueue],
    held: Mapping[MessageQueue, ProcessQueue],
    now_ms: int,
) -> tuple[list[MessageQueue], list[MessageQueue]]:
    """Write a broker's answer into the process queues; return (gained, lost).

    Queues in the answer become locked; the others become unlocked and are not consumed
    until they are locked again (C8). A lock that the broker had let lapse counts as
    gained: another client may have consumed in between. `now_ms` is when the request
    was sent, so that our trust ends before the broker's lock does.
    """
    gained: list[MessageQueue] = []
    lost: list[MessageQueue] = []
    for queue in asked:
        process = held.get(queue)
        if process is None:
            continue
        had = process.locked and now_ms - process.last_lock_ms < BROKER_LOCK_MS
        if queue in granted:
            process.confirm_lock(now_ms)
            if not had:
                gained.append(queue)
        else:
            if process.locked:
                lost.append(queue)
            process.locked = False
    return gained, lost
