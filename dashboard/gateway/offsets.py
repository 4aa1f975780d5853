"""Where a group stands in a topic's queues, asked on request, and moves of its offsets.

If a broker does not answer, only its own queues are unknown. Reading asks
masters only, since moves go to masters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeVar

from rmqcore.admin import END_OF_QUEUE, Admin
from rmqcore.admin.moving import SERVER_SIDE_RESET, ask_each
from rmqcore.errors import RmqError
from rmqcore.model import MessageModel, MessageQueue
from rmqcore.offsets import FirstCommits

from .asking import ask
from .settings import ClusterSettings

SECONDS: Final = 20.0
"""How long a move may take: two thousand queues, one request each."""

Way = Literal["kept", "told", "committed"]
"""How an offset is moved: the broker keeps the reset (222 for one queue), it tells the
online members (222 for all queues, by time), or it is committed (15)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group stands in one queue; with an `error`, nothing else is known.

    `committed` is None where nothing was committed.
    """

    broker: str
    queue_id: int
    low: int = 0
    high: int = 0
    committed: int | None = None
    error: str = ""

    @property
    def key(self) -> str:
        """The queue within its topic, as addresses and forms name it."""
        return f"{self.broker}/{self.queue_id}"


@dataclass(frozen=True, slots=True)
class BrokerSide:
    """One broker of a topic: its master, its members of the group, how it resets.

    `members` is None if it did not say; `keeps_resets` is None if that is not known.
    """

    name: str
    address: str | None
    members: frozenset[str] | None = None
    keeps_resets: bool | None = None
    broadcasting: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a group stands in a topic, as the topic's brokers say.

    Nothing more is asked of a `static` topic, whose offsets brokers keep in pieces.
    """

    places: Sequence[Place]
    brokers: Mapping[str, BrokerSide]
    static: bool = False

    @property
    def members(self) -> frozenset[str] | None:
        """The members that some broker knows; None if no broker said."""
        told = [b.members for b in self.brokers.values() if b.members is not None]
        return frozenset().union(*told) if told else None

    @property
    def broadcasting(self) -> bool:
        return any(broker.broadcasting for broker in self.brokers.values())

    def way(self, broker: str) -> Way | None:
        """Say how offsets on a broker can be moved now; None if that is not known."""
        side = self.brokers[broker]
        if side.keeps_resets:
            return "kept"
        if self.members is None:
            return None
        if not self.members:
            return "committed"
        return None if side.keeps_resets is None else "told"


@dataclass(frozen=True, slots=True)
class Move:
    """One queue's new offset, and how to set it."""

    broker: str
    address: str
    queue_id: int
    offset: int
    way: Way

    @property
    def key(self) -> str:
        return f"{self.broker}/{self.queue_id}"


def read_standing(cluster: ClusterSettings, group: str, topic: str) -> Standing:
    """Ask all brokers of a topic; raise RmqError when there is no route to it."""

    async def work(admin: Admin) -> Standing:
        if (await admin.topic_route(topic)).mappings:
            return Standing((), {}, static=True)
        masters = await admin.topic_masters(topic)
        sides = await asyncio.gather(
            *(_side(admin, group, topic, name, at) for name, at in masters.items())
        )
        places = [place for _side, places in sides for place in places]
        return Standing(places, {side.name: side for side, _places in sides})

    return ask(cluster, work)


def find_times(
    cluster: ClusterSettings, topic: str, standing: Standing, timestamp_ms: int
) -> Mapping[str, int | str]:
    """Return the first offset at a time, or the error, by key of the known queues."""

    async def work(admin: Admin) -> Mapping[str, int | str]:
        parts = await asyncio.gather(
            *(
                _times(admin, topic, standing, side, timestamp_ms)
                for side in standing.brokers.values()
            )
        )
        return {key: found for part in parts for key, found in part.items()}

    return ask(cluster, work)


def move_offsets(
    cluster: ClusterSettings,
    group: str,
    topic: str,
    moves: Sequence[Move],
    *,
    timestamp_ms: int | None = None,
) -> Mapping[str, str]:
    """Carry out moves; return by key what went wrong, with nothing for a success.

    `timestamp_ms` is for brokers that tell their members: None is the queue's end.
    """
    at_ms = END_OF_QUEUE if timestamp_ms is None else timestamp_ms

    async def work(admin: Admin) -> Mapping[str, str]:
        told = {m.broker: m.address for m in moves if m.way == "told"}
        single = [m for m in moves if m.way != "told"]
        first = FirstCommits()
        done = await ask_each(single, lambda m: _one(admin, group, topic, m, first))
        answers = await ask_each(
            told, lambda name: admin.reset_on_broker(group, topic, at_ms, told[name])
        )
        wrong: dict[str, object] = {m.key: each for m, each in done.items()}
        wrong |= {m.key: answers[m.broker] for m in moves if m.way == "told"}
        return {
            key: str(each) for key, each in wrong.items() if isinstance(each, RmqError)
        }

    return ask(cluster, work, seconds=SECONDS)


async def _side(
    admin: Admin, group: str, topic: str, name: str, address: str | None
) -> tuple[BrokerSide, list[Place]]:
    side = BrokerSide(name, address)
    if address is None:
        return replace(side, error="no master is up"), []
    members, settings, places = await asyncio.gather(
        _told(admin.consumer_connection(group, address)),
        _told(admin.broker_settings(address)),
        _told(admin.queue_places(group, topic, address)),
    )
    if not isinstance(settings, RmqError):
        kept = settings.get(SERVER_SIDE_RESET, "false") == "true"
        side = replace(side, keeps_resets=kept)
    if not isinstance(members, RmqError):
        connected = members.connections if members else ()
        side = replace(
            side,
            members=frozenset(each.client_id for each in connected),
            broadcasting=members is not None
            and members.message_model is MessageModel.BROADCASTING,
        )
    if isinstance(places, RmqError):
        return replace(side, error=str(places)), []
    return side, [
        Place(name, queue_id, each.min_offset, each.max_offset, each.committed)
        for queue_id, each in places.items()
    ]


async def _times(
    admin: Admin, topic: str, standing: Standing, side: BrokerSide, timestamp_ms: int
) -> dict[str, int | str]:
    if side.address is None:
        return {}
    queues = [
        MessageQueue(topic, place.broker, place.queue_id)
        for place in standing.places
        if place.broker == side.name and not place.error
    ]
    found = await admin.offsets_at(queues, timestamp_ms, side.address)
    return {
        f"{queue.broker_name}/{queue.queue_id}": str(at)
        if isinstance(at, RmqError)
        else at
        for queue, at in found.items()
    }


async def _one(
    admin: Admin, group: str, topic: str, move: Move, first: FirstCommits
) -> None:
    queue = MessageQueue(topic, move.broker, move.queue_id)
    act = admin.reset_queue if move.way == "kept" else admin.commit_offset
    await first.take_turn(
        move.address, lambda _: act(group, queue, move.offset, move.address)
    )


async def _told(work: Awaitable[T]) -> T | RmqError:
    """Return what was answered, or the error."""
    try:
        return await work
    except RmqError as error:
        return error
