"""`MACHINE_ROOM`: only queues of the allowed rooms take part (behaviour B4).

Cost for a group: one pass over the queues, one check of each distinct broker name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue

from .strategy import StrategyByPosition

ROOM_SEPARATOR = "@"


def room_of(broker_name: str) -> str | None:
    """Return the room of a broker named `room@broker`, or None for other names.

    Java's `split` drops empty strings at the end, so `r1@b@` has two parts, too.
    """
    parts = broker_name.split(ROOM_SEPARATOR)
    while parts and not parts[-1]:
        parts.pop()
    return parts[0] if len(parts) == 2 else None


@dataclass(frozen=True, slots=True)
class MachineRoom(StrategyByPosition):
    """Divide the queues of the allowed rooms; the first members take the remainder.

    Of p such queues over c members, the member at i takes p // c from i * (p // c) on;
    the p mod c queues left at the end go one each to the first members. Queues of other
    rooms, or of brokers not named `room@broker`, have no owner. `rooms` None is Java's
    strategy before `setConsumeridcs`: an error once a room is looked up.

    Even, 6 queues on `r1@b` and 2 on `r2@b`, rooms {"r1"}, 2 members::

        A: 0 1 2
        B: 3 4 5
        nobody: both of r2@b

    Uneven, 8 queues on `r1@b` over 3 members::

        A: 0 1 6
        B: 2 3 7
        C: 4 5

    When a member joins, blocks shift as with `AVG`, and the remainder is dealt anew.
    """

    rooms: Collection[str] | None

    def __post_init__(self) -> None:
        if self.rooms is None:
            return
        if isinstance(self.rooms, str) or not isinstance(self.rooms, Collection):
            raise ArgumentError(f"rooms must be a set of names, got {self.rooms!r}")
        for room in self.rooms:
            if not isinstance(room, str):
                raise ArgumentError(f"rooms must be a set of names, one is {room!r}")

    @property
    def name(self) -> str:
        """The name RocketMQ reports."""
        return "MACHINE_ROOM"

    def _part(
        self, queues: Sequence[MessageQueue], index: int, client_count: int
    ) -> list[MessageQueue]:
        size, remainder = divmod(len(queues), client_count)
        part = list(queues[index * size : (index + 1) * size])
        if index < remainder:
            part.append(queues[client_count * size + index])
        return part

    def _divided(self, queues: Sequence[MessageQueue]) -> list[MessageQueue]:
        allowed: dict[str, bool] = {}
        taken: list[MessageQueue] = []
        for queue in queues:
            verdict = allowed.get(queue.broker_name)
            if verdict is None:
                verdict = allowed[queue.broker_name] = self._allows(queue)
            if verdict:
                taken.append(queue)
        return taken

    def _allows(self, queue: MessageQueue) -> bool:
        room = room_of(queue.broker_name)
        if room is None:
            return False
        if self.rooms is None:
            raise AllocationError(
                f"rooms are missing (None): cannot tell whether room {room!r} of "
                f"{queue} takes part"
            )
        return room in self.rooms
