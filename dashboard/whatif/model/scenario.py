"""The edits of a what-if: a value that can be saved, linked and compared.

A scenario consists of edits, not of a state: it is applied to the group as it is when
the scenario is opened. Limits keep a link from asking for more than a server can
compute.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Final, TypeAlias

from dashboard.wording.ranges import ID_LIMIT
from rmqcore.allocation import required_options
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

from .rooms import RoomRule

MEMBER_LIMIT: Final = 5_000
QUEUE_LIMIT: Final = 100_000
VIRTUAL_NODE_LIMIT: Final = 1_000
RATE_LIMIT: Final = 1e12


ConfigLists: TypeAlias = tuple[tuple[str, tuple[MessageQueue, ...]], ...]


class Weighing(StrEnum):
    """The measure that the balanced plan evens out."""

    RATE = "rate"
    LAG = "lag"
    QUEUES = "queues"


@dataclass(frozen=True, slots=True)
class QueueCount:
    """How many queues a topic is to have on a broker."""

    topic: str
    broker_name: str
    count: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """Edits of a group, options of strategies, and expected rates.

    `strategy` is the one to show; all are compared. `rates` are what whole topics are
    expected to get, in messages per second; other topics get what they get now times
    `rate_factor`. `member_rate` is what one member can take. `config` has the lists of
    `CONFIG` by client id; they are kept sorted, each queue once, none empty.
    """

    strategy: str | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    rename: tuple[tuple[str, str], ...] = ()
    queue_counts: tuple[QueueCount, ...] = ()
    rates: tuple[tuple[str, float], ...] = ()
    rate_factor: float = 1.0
    member_rate: float | None = None
    virtual_nodes: int | None = None
    rooms: tuple[str, ...] = ()
    inner: str | None = None
    broker_rooms: RoomRule = field(default_factory=RoomRule)
    client_rooms: RoomRule = field(default_factory=RoomRule)
    config: ConfigLists = ()
    weighing: Weighing = Weighing.RATE

    def __post_init__(self) -> None:
        for named in (self.strategy, self.inner):
            if named is not None:
                # This refuses unknown names, and says which are known.
                required_options(named)
        for client_id in (
            *self.add,
            *self.remove,
            *(x for y in self.rename for x in y),
        ):
            if not client_id:
                raise ArgumentError("a member needs a client id, got an empty one")
        _check_number("rate_factor", self.rate_factor)
        if self.member_rate is not None:
            _check_number("member_rate", self.member_rate)
        for topic, rate in self.rates:
            _check_number(f"rate of topic {topic!r}", rate)
        self._check_limits()
        object.__setattr__(self, "config", _tidied(self.config))

    def _check_limits(self) -> None:
        _check_limit("members to add", len(self.add), MEMBER_LIMIT)
        _check_limit("members to remove", len(self.remove), MEMBER_LIMIT)
        _check_limit("members to rename", len(self.rename), MEMBER_LIMIT)
        for each in self.queue_counts:
            if not each.topic or not each.broker_name:
                raise ArgumentError(
                    f"a queue count needs topic and broker, got {each.topic!r} "
                    f"and {each.broker_name!r}"
                )
            _check_limit(f"queues of {each.topic}", each.count, QUEUE_LIMIT)
        _check_limit(
            "queues asked for",
            sum(each.count for each in self.queue_counts),
            QUEUE_LIMIT,
        )
        _check_limit(
            "queues in CONFIG lists", sum(len(x) for _, x in self.config), QUEUE_LIMIT
        )
        if self.virtual_nodes is not None:
            _check_limit("virtual_nodes", self.virtual_nodes, VIRTUAL_NODE_LIMIT)

    @property
    def changes_nothing(self) -> bool:
        """True for a scenario that leaves members, queues and rates as they are."""
        edited = (self.add, self.remove, self.rename, self.queue_counts, self.rates)
        return not any(edited) and self.rate_factor == 1.0


def _tidied(config: ConfigLists) -> ConfigLists:
    lists: dict[str, set[MessageQueue]] = {}
    for client_id, queues in config:
        if not client_id:
            raise ArgumentError("a CONFIG list needs a client id, got an empty one")
        for queue in queues:
            _check_limit(f"queue id of {queue}", queue.queue_id, ID_LIMIT)
        lists.setdefault(client_id, set()).update(queues)
    return tuple(
        (client_id, tuple(sorted_queues(queues)))
        for client_id, queues in lists.items()
        if queues
    )


def _check_number(what: str, value: float) -> None:
    if not isfinite(value) or not 0 <= value <= RATE_LIMIT:
        raise ArgumentError(f"{what} is {value}, it must be from 0 to {RATE_LIMIT:g}")


def _check_limit(what: str, value: int, limit: int) -> None:
    if not 0 <= value <= limit:
        raise ArgumentError(f"{what}: {value}, it must be from 0 to {limit:,}")
