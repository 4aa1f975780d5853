"""`AVG`: contiguous blocks (behaviour B1); RocketMQ's default.

Cost for a group: one slice per member that gets something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rmqcore.model import MessageQueue

from .strategy import StrategyByPosition


def block(index: int, queue_count: int, client_count: int) -> tuple[int, int]:
    """Return start and end of the block that the client at `index` takes.

    With fewer queues than clients, the last clients would start past the last queue:
    their blocks are empty.
    """
    size, remainder = divmod(queue_count, client_count)
    if index < remainder:
        start = index * (size + 1)
        return start, start + size + 1
    start = index * size + remainder
    return start, start + size


@dataclass(frozen=True, slots=True)
class Avg(StrategyByPosition):
    """Give each member one contiguous block; the first members take the remainder.

    With q queues and c members, q mod c members get q // c + 1 queues and the rest
    get q // c.

    Even, 8 queues over 2 members::

        A: 0 1 2 3
        B: 4 5 6 7

    Uneven, 16 queues over 3 members::

        A: 0 1 2 3 4 5
        B: 6 7 8 9 10
        C: 11 12 13 14 15

    When a member joins, all block borders shift: from 2 to 3 members, of the 16 queues,
    6 and 7 go from A to B, and 11 to 15 from B to the new C. Over several topics the
    remainder lands on the same first members each time.
    """

    @property
    def name(self) -> str:
        """The name RocketMQ reports."""
        return "AVG"

    def _part(
        self, queues: Sequence[MessageQueue], index: int, client_count: int
    ) -> list[MessageQueue]:
        start, end = block(index, len(queues), client_count)
        return list(queues[start:end])
