"""The interface of every allocation strategy, and the checks that most of them share.

A strategy answers two questions with one rule:

- `allocate`: which queues does this one member take? Computed the way each RocketMQ
  client computes it on its own, from the lists in the order given.
- `divider`: who takes what in the whole group? Work that depends only on the members (a
  hash ring, the rooms) is done once, for any number of topics.

Invariant: for sorted lists, the share a divider gives to a member equals what
`allocate` returns for that member. A client id listed twice is one key with one share:
both processes behind it compute the same one (behaviour A5b).

Strategies hold their options and nothing else. The only log call of this package is the
warning of `check` (behaviour B7).
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rmqcore.errors import AllocationError
from rmqcore.model import MessageQueue

logger = logging.getLogger(__name__)

Shares: TypeAlias = dict[str, list[MessageQueue]]
"""The queues that each member takes; members that take nothing may be left out."""

Divide: TypeAlias = Callable[[Sequence[MessageQueue]], Shares]
"""Divides the sorted queues of one topic among the members it was made for."""


class AllocateStrategy(ABC):
    """One rule by which a group divides the queues of a topic."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that RocketMQ's own class for this rule reports."""

    @abstractmethod
    def allocate(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """Return the queues of one member, from lists taken in the order given."""

    @abstractmethod
    def divider(self, client_ids: Sequence[str]) -> Divide:
        """Return a function that divides topics among these members, given sorted."""


class CheckedStrategy(AllocateStrategy):
    """A strategy that refuses what Java's common check refuses."""

    __slots__ = ()

    def allocate(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """Return the queues of one member; raise AllocationError as B7 says."""
        if not check(group, client_id, queues, client_ids):
            return []
        return self._share(group, client_id, queues, client_ids)

    @abstractmethod
    def _share(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """Return the queues of one of the members, from lists that are not empty."""


class StrategyByPosition(CheckedStrategy):
    """A strategy by which a member's place in the group decides what it takes.

    A later place never takes more than an earlier one.
    """

    __slots__ = ()

    @abstractmethod
    def _part(
        self, queues: Sequence[MessageQueue], index: int, client_count: int
    ) -> list[MessageQueue]:
        """Return what the member at `index` takes of the queues to be divided."""

    def _divided(self, queues: Sequence[MessageQueue]) -> Sequence[MessageQueue]:
        """Return the queues that are divided; the others have no owner."""
        return queues

    def _share(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        divided = self._divided(queues)
        return self._part(divided, client_ids.index(client_id), len(client_ids))

    def divider(self, client_ids: Sequence[str]) -> Divide:
        """Prepare the places of these members."""
        check_members(client_ids)
        positions = first_positions(client_ids)
        client_count = len(client_ids)

        def divide(queues: Sequence[MessageQueue]) -> Shares:
            check_lists(queues, client_ids)
            divided = self._divided(queues)
            shares: Shares = {}
            for client_id, index in positions.items():
                part = self._part(divided, index, client_count)
                if not part:
                    # Positions rise, so later members get nothing either.
                    break
                shares[client_id] = part
            return shares

        return divide


def check(
    group: str,
    client_id: str,
    queues: Sequence[MessageQueue],
    client_ids: Sequence[str],
) -> bool:
    """Refuse empty input; tell whether the member is one of the group (B7).

    Raise AllocationError in the order of Java's
    `AbstractAllocateMessageQueueStrategy.check`, whose words the messages begin with.
    """
    if not client_id:
        raise AllocationError("currentCID is empty: an allocation is for one client id")
    check_lists(queues, client_ids)
    if client_id not in client_ids:
        logger.warning(
            "group=%s client_id=%s is not among the group's client ids %s: "
            "no queue is allocated to it",
            group,
            client_id,
            list(client_ids),
        )
        return False
    return True


def check_lists(queues: Sequence[MessageQueue], client_ids: Sequence[str]) -> None:
    """Refuse an empty list of queues or of client ids."""
    if not queues:
        raise AllocationError("mqAll is null or mqAll empty: no queue to divide")
    if not client_ids:
        raise AllocationError("cidAll is null or cidAll empty: nobody to divide among")


def check_members(client_ids: Sequence[str]) -> None:
    """Refuse a group with no member, or with one whose own check would fail."""
    if not client_ids:
        raise AllocationError("cidAll is null or cidAll empty: nobody to divide among")
    if "" in client_ids:
        raise AllocationError("currentCID is empty: a group lists an empty client id")


def first_positions(client_ids: Sequence[str]) -> dict[str, int]:
    """Return where each client id stands first, as Java's `indexOf` finds it."""
    positions: dict[str, int] = {}
    for position, client_id in enumerate(client_ids):
        positions.setdefault(client_id, position)
    return positions
