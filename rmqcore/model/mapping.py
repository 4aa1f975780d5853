"""Static topics of RocketMQ 5: logical queues, and where their messages are.

Theory. A static topic has a fixed number of logical queues, which keep their numbers
and offsets when they move from broker to broker. A logical queue is a list of pieces,
oldest first: each is a physical queue of the topic on one broker, with the logical
offset at which it begins. Messages are appended to the last piece, whose broker is the
queue's leader. Each broker of the topic has a mapping, with an epoch, of the queues
that it leads or has led; name servers hand out who leads what.

Clients know logical queues only: their broker name is LOGICAL_PREFIX and the scope of
the topic. Offsets between the end of one piece and the beginning of the next belong to
no message. Offsets that groups commit are kept by the brokers of the pieces, as offsets
of their physical queues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

LOGICAL_PREFIX: Final = "__syslo__"
"""How the broker names of logical queues begin."""

GLOBAL_SCOPE: Final = "__global__"
NOWHERE: Final = LOGICAL_PREFIX + "__none__"
"""The broker of a logical queue that no broker leads."""


@dataclass(frozen=True, slots=True)
class LogicQueueMappingItem:
    """One piece of a logical queue: a physical queue on a broker.

    `logic_offset` is None while a move is under way and it is not yet decided where the
    piece begins. `end_offset`, physical and exclusive, is None while messages are
    appended. Times are ms since the epoch, None where not told.
    """

    gen: int
    queue_id: int
    broker_name: str
    logic_offset: int | None = 0
    start_offset: int = 0
    end_offset: int | None = None
    time_of_start: int | None = None
    time_of_end: int | None = None

    def logical(self, physical: int) -> int | None:
        """Return the logical offset of a physical one; None while undecided."""
        if self.logic_offset is None:
            return None
        return self.logic_offset + max(physical - self.start_offset, 0)

    def physical(self, logical: int) -> int:
        """Return the physical offset of a logical one, as brokers compute it."""
        return logical - (self.logic_offset or 0) + self.start_offset

    @property
    def decided_end(self) -> int | None:
        """The physical end; None while it is open, or not yet decided by a move."""
        end = self.end_offset
        return None if end is None or end <= self.start_offset else end


@dataclass(frozen=True, slots=True)
class LogicalPiece:
    """A piece with the ends of its physical queue now; None where they are unknown."""

    item: LogicQueueMappingItem
    low: int | None
    high: int | None

    @property
    def begin(self) -> int | None:
        """The logical offset at which the piece begins; None while undecided."""
        return self.item.logic_offset

    @property
    def physical_end(self) -> int | None:
        """Where its messages end, which brokers often leave to its physical queue."""
        end = self.item.decided_end
        return self.high if end is None else end

    @property
    def end(self) -> int | None:
        """The logical offset behind its last message; None where it is unknown."""
        end = self.physical_end
        return None if end is None else self.item.logical(end)


Pieces = tuple[LogicQueueMappingItem, ...]


@dataclass(frozen=True, slots=True)
class TopicQueueMapping:
    """What one broker, or a name server about it, says of a static topic.

    `current` has the physical queue of each logical queue that the broker leads.
    `hosted` has the pieces of each logical queue that it leads or has led; name servers
    do not tell them.
    """

    topic: str
    broker_name: str
    total_queues: int
    epoch: int = 0
    scope: str = GLOBAL_SCOPE
    current: Mapping[int, int] = field(default_factory=dict)
    hosted: Mapping[int, Pieces] = field(default_factory=dict)

    @property
    def logical_broker(self) -> str:
        """The broker name of the topic's logical queues."""
        is_global = self.scope == GLOBAL_SCOPE
        return LOGICAL_PREFIX + (self.scope[2:] if is_global else self.scope)


def is_logical(broker_name: str) -> bool:
    """Tell whether this is the broker name of logical queues."""
    return broker_name.startswith(LOGICAL_PREFIX)


def leaders_of(
    mappings: Iterable[TopicQueueMapping],
) -> dict[tuple[str, int], str]:
    """Return who leads each logical queue, by logical broker name and queue id.

    A queue that nobody leads is led by `NOWHERE`. Of two that claim one queue, the
    broker with the newer mapping leads it.
    """
    leaders: dict[tuple[str, int], str] = {}
    for scope in _by_scope(mappings).values():
        total, logical_broker = scope[-1].total_queues, scope[-1].logical_broker
        leaders.update({(logical_broker, queue): NOWHERE for queue in range(total)})
        for mapping in scope:
            for queue in mapping.current:
                leaders[logical_broker, queue] = mapping.broker_name
    return dict(sorted(leaders.items()))


def pieces_of(
    mappings: Iterable[TopicQueueMapping],
) -> dict[tuple[str, int], Pieces]:
    """Return the pieces of each logical queue, oldest first.

    The leader's word counts, since only the leader is told where its piece begins. A
    queue that no mapping has pieces of has none.
    """
    newest: dict[tuple[str, int], tuple[int, bool]] = {}
    pieces: dict[tuple[str, int], Pieces] = {}
    for scope in _by_scope(mappings).values():
        total, logical_broker = scope[-1].total_queues, scope[-1].logical_broker
        pieces.update({(logical_broker, queue): () for queue in range(total)})
        for mapping in scope:
            for queue, found in mapping.hosted.items():
                if not found:
                    continue
                key, last = (logical_broker, queue), found[-1]
                age = last.gen, last.broker_name == mapping.broker_name
                if key not in newest or age >= newest[key]:
                    newest[key], pieces[key] = age, found
    return dict(sorted(pieces.items()))


def _by_scope(
    mappings: Iterable[TopicQueueMapping],
) -> dict[str, list[TopicQueueMapping]]:
    """Return the mappings by scope, oldest first; of one age, the largest last."""
    scopes: dict[str, list[TopicQueueMapping]] = {}
    for mapping in sorted(mappings, key=lambda each: (each.epoch, each.total_queues)):
        scopes.setdefault(mapping.scope, []).append(mapping)
    return scopes
