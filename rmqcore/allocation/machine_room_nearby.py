"""`MACHINE_ROOM_NEARBY`: another strategy, room by room (behaviour B5).

Cost for a group: one look-up per queue and per member, then the inner strategy once
per room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue
from rmqcore.model.queue import utf16_key

from .strategy import (
    AllocateStrategy,
    CheckedStrategy,
    Divide,
    Shares,
    check_lists,
    check_members,
)

NEARBY = "MACHINE_ROOM_NEARBY"

QueueRoom: TypeAlias = Callable[[MessageQueue], str | None] | Mapping[str, str]
ClientRoom: TypeAlias = Callable[[str], str | None] | Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MachineRoomNearby(CheckedStrategy):
    """Divide each room's queues among that room's members by the inner strategy.

    Queues of rooms without a living member are divided among all members, room after
    room in the order of their names. `queue_room` and `client_room` say where a queue
    and a client id are: functions, or mappings from broker name and from client id.
    A queue or member without a room is an error, as in Java.

    Even, 4 queues in room r1 and 4 in r2, members r1-A and r2-B, inner `AVG`::

        r1-A: 0 1 2 3 of r1
        r2-B: 0 1 2 3 of r2

    Uneven, 3 queues in r1, 3 in r2 and 3 in r3, members r1-A, r1-B and r2-C::

        r1-A: 0 1 of r1, 0 of r3
        r1-B: 2 of r1,   1 of r3
        r2-C: 0 1 2 of r2, 2 of r3

    When a member joins a room that has members, only that room's queues and those of
    rooms without any move. The first member of a room takes that room's queues back
    from all others.
    """

    inner: AllocateStrategy
    queue_room: QueueRoom
    client_room: ClientRoom

    def __post_init__(self) -> None:
        if not isinstance(self.inner, AllocateStrategy):
            raise ArgumentError(f"inner must be a strategy, got {self.inner!r}")
        _check_resolver("queue_room", self.queue_room, "broker names")
        _check_resolver("client_room", self.client_room, "client ids")

    @property
    def name(self) -> str:
        """The name RocketMQ reports, with the inner strategy's."""
        return f"{NEARBY}-{self.inner.name}"

    def _share(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """Return the queues of the member's room, then its part of rooms without any.

        Raise AllocationError, which names it, for a queue or client id without a room.
        """
        queues_of = self._queues_by_room(queues)
        clients_of = self._clients_by_room(client_ids)
        own_room = self._room_of_client(client_id)
        own = queues_of.pop(own_room, [])
        result: list[MessageQueue] = []
        if own:
            result += self.inner.allocate(group, client_id, own, clients_of[own_room])
        for room in sorted(queues_of, key=utf16_key):
            if room not in clients_of:
                result += self.inner.allocate(
                    group, client_id, queues_of[room], client_ids
                )
        return result

    def divider(self, client_ids: Sequence[str]) -> Divide:
        """Prepare the rooms of these members, and the inner strategy for each."""
        check_members(client_ids)
        clients_of: dict[str, list[str]] = {}
        prepared: dict[str | None, Divide] = {}

        def divide_room(room: str | None, queues: Sequence[MessageQueue]) -> Shares:
            if room not in prepared:
                members = client_ids if room is None else clients_of[room]
                prepared[room] = self.inner.divider(members)
            return prepared[room](queues)

        def divide(queues: Sequence[MessageQueue]) -> Shares:
            check_lists(queues, client_ids)
            # Java reports a queue without a room before it looks at members.
            queues_of = self._queues_by_room(queues)
            if not clients_of:
                clients_of.update(self._clients_by_room(client_ids))
            shares: Shares = {}
            # Members see their own room first, then the rooms without members.
            for room in sorted(
                queues_of, key=lambda room: (room not in clients_of, utf16_key(room))
            ):
                whose = room if room in clients_of else None
                for client_id, part in divide_room(whose, queues_of[room]).items():
                    shares.setdefault(client_id, []).extend(part)
            return shares

        return divide

    def _queues_by_room(
        self, queues: Sequence[MessageQueue]
    ) -> dict[str, list[MessageQueue]]:
        rooms: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            room = (
                self.queue_room.get(queue.broker_name)
                if isinstance(self.queue_room, Mapping)
                else self.queue_room(queue)
            )
            if not room:
                raise AllocationError(f"Machine room is null for mq {queue}")
            rooms.setdefault(room, []).append(queue)
        return rooms

    def _clients_by_room(self, client_ids: Sequence[str]) -> dict[str, list[str]]:
        rooms: dict[str, list[str]] = {}
        for client_id in client_ids:
            rooms.setdefault(self._room_of_client(client_id), []).append(client_id)
        return rooms

    def _room_of_client(self, client_id: str | None) -> str:
        room: str | None = None
        if client_id is not None:
            room = (
                self.client_room.get(client_id)
                if isinstance(self.client_room, Mapping)
                else self.client_room(client_id)
            )
        if not room:
            named = "null" if client_id is None else client_id
            raise AllocationError(f"Machine room is null for consumer id {named}")
        return room


def _check_resolver(option: str, resolver: object, keys: str) -> None:
    if not callable(resolver) and not isinstance(resolver, Mapping):
        raise ArgumentError(
            f"{option} must be a function or a mapping from {keys} to rooms, "
            f"got {resolver!r}"
        )
