"""`AVG_BY_CIRCLE`: queues dealt out like cards (behaviour B2).

Cost for a group: one strided slice per member that gets something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rmqcore.model import MessageQueue

from .strategy import StrategyByPosition


@dataclass(frozen=True, slots=True)
class AvgByCircle(StrategyByPosition):
    """Deal the queues out one by one: the member at i takes i, i + c, i + 2c, …

    Even, 8 queues over 2 members::

        A: 0 2 4 6
        B: 1 3 5 7

    Uneven, 8 queues over 3 members::

        A: 0 3 6
        B: 1 4 7
        C: 2 5

    When a member joins, nearly every queue moves, because the stride changes: from 2 to
    3 members, only 0, 1, 6 and 7 of the 8 stay. Counts are those of `AVG`; the
    difference is that each member's queues are spread over all brokers.
    """

    @property
    def name(self) -> str:
        """The name RocketMQ reports."""
        return "AVG_BY_CIRCLE"

    def _part(
        self, queues: Sequence[MessageQueue], index: int, client_count: int
    ) -> list[MessageQueue]:
        return list(queues[index::client_count])
