"""`CONFIG`: the configured lists, whatever the input (behaviour B3).

Nothing is checked against the topic: a queue that no list names has no owner, one
that two lists name has two, and RocketMQ says nothing about either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue

from .strategy import AllocateStrategy, Divide, Shares

QueueList: TypeAlias = Sequence[MessageQueue]


@dataclass(frozen=True, slots=True)
class Config(AllocateStrategy):
    """Give each member the list it was configured with.

    `config` is one member's list for `allocate`, or a mapping from client id to list,
    which a whole group needs. None is Java's strategy before `setMessageQueueList`:
    no queues.

    Even, 4 queues, `{"A": [0, 1], "B": [2, 3]}`::

        A: 0 1
        B: 2 3

    Uneven, 3 queues, `{"A": [0, 1, 2], "B": []}`::

        A: 0 1 2
        B: none

    When a member joins, nothing moves: it has no queue until somebody gives it a list.
    When one leaves, its queues stay without an owner.
    """

    config: QueueList | Mapping[str, QueueList] | None

    def __post_init__(self) -> None:
        if self.config is None:
            return
        if isinstance(self.config, Mapping):
            for client_id, queues in self.config.items():
                _check_queue_list(f"config[{client_id!r}]", queues)
        else:
            _check_queue_list("config", self.config)

    @property
    def name(self) -> str:
        """The name RocketMQ reports."""
        return "CONFIG"

    def allocate(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        """Return the configured list; nothing is checked, as in Java."""
        if self.config is None:
            return []
        if isinstance(self.config, Mapping):
            return list(self.config.get(client_id, ()))
        return list(self.config)

    def divider(self, client_ids: Sequence[str]) -> Divide:
        """Prepare the lists of these members; `config` must map client ids to them."""
        if self.config is not None and not isinstance(self.config, Mapping):
            raise ArgumentError(
                "config must map client ids to lists for a whole group, "
                "got one list without a client id"
            )
        lists = self.config or {}
        shares = {client_id: list(lists.get(client_id, ())) for client_id in client_ids}

        def divide(queues: Sequence[MessageQueue]) -> Shares:
            return {client_id: list(share) for client_id, share in shares.items()}

        return divide


def _check_queue_list(what: str, queues: object) -> None:
    if not isinstance(queues, Sequence) or isinstance(queues, str):
        raise ArgumentError(f"{what} must be a list of MessageQueue, got {queues!r}")
    for position, queue in enumerate(queues):
        if not isinstance(queue, MessageQueue):
            raise ArgumentError(
                f"{what}[{position}] must be a MessageQueue, got {queue!r}"
            )
