"""`CONSISTENT_HASH`: virtual nodes on an MD5 ring (behaviour B6).

Each member has nodes on the ring at the hashes of `client id-0`, `client id-1`, …; a
queue goes to the first node at or after the hash of its text form, wrapping around at
the end. A hash is the first four bytes of MD5, big-endian, unless a function is given.

Two corner cases are kept as Java has them: nodes whose hashes collide replace one
another, and a client id listed again is numbered on from the nodes it has on the ring
by then.

Cost for a group: one hash per virtual node and per queue, one binary search per queue.
Java builds the ring anew for each member and counts a member's nodes by walking the
ring, so a whole group takes it a hundred times longer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue

from .strategy import (
    CheckedStrategy,
    Divide,
    Shares,
    check_lists,
    check_members,
)

try:
    # CPython's own MD5 is three times as fast on short texts as OpenSSL's.
    from _md5 import md5  # type: ignore[import-not-found]
except ImportError:  # pragma: no cover (other interpreters)
    from hashlib import md5

DEFAULT_VIRTUAL_NODES = 10

Place: TypeAlias = bytes | int
Hashes: TypeAlias = Callable[[Iterable[str]], Sequence[Place]]


def md5_places(texts: Iterable[str]) -> list[Place]:
    """Return the first four bytes of each text's MD5.

    Bytes compare as the unsigned numbers that Java's `MD5Hash` makes of them.
    """
    # Java writes "?" where a character cannot be encoded.
    return [
        md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4]
        for text in texts
    ]


@dataclass(frozen=True, slots=True)
class ConsistentHash(CheckedStrategy):
    """Give each queue to the member whose virtual node comes next on the ring.

    Even, as far as hashing allows: 8 queues of topic T on broker-a over 2 members, 10
    virtual nodes each::

        c1: 0 4 5 7
        c3: 1 2 3 6

    Uneven, the same 8 queues after c2 has joined::

        c1: 0 4
        c2: 1 2 5 6 7
        c3: 3

    When a member joins, queues move to it and between no others, q / (c + 1) of them on
    average; when it leaves, exactly those go back. Shares are uneven; more virtual
    nodes even them out.
    """

    virtual_nodes: int = DEFAULT_VIRTUAL_NODES
    hash_function: Callable[[str], int] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.virtual_nodes, bool) or not isinstance(
            self.virtual_nodes, int
        ):
            raise ArgumentError(
                f"virtual_nodes must be a whole number, got {self.virtual_nodes!r}"
            )
        if self.virtual_nodes < 0:
            raise AllocationError(
                f"illegal virtualNodeCnt :{self.virtual_nodes}, "
                "virtual_nodes must be 0 or more"
            )
        if self.hash_function is not None and not callable(self.hash_function):
            raise ArgumentError(
                f"hash_function must take a text and return a whole number, "
                f"got {self.hash_function!r}"
            )

    @property
    def name(self) -> str:
        """The name RocketMQ reports."""
        return "CONSISTENT_HASH"

    def _share(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        ring = self._ring(client_ids)
        return [queue for queue, owner in ring.route(queues) if owner == client_id]

    def divider(self, client_ids: Sequence[str]) -> Divide:
        """Prepare the ring of these members."""
        check_members(client_ids)
        ring = self._ring(client_ids)

        def divide(queues: Sequence[MessageQueue]) -> Shares:
            check_lists(queues, client_ids)
            shares: Shares = {}
            for queue, owner in ring.route(queues):
                if owner in shares:
                    shares[owner].append(queue)
                elif owner is not None:
                    shares[owner] = [queue]
            return shares

        return divide

    def _ring(self, client_ids: Sequence[str | None]) -> _Ring:
        ring = _Ring(md5_places if self.hash_function is None else self._places)
        for client_id in client_ids:
            ring.add(client_id, self.virtual_nodes)
        return ring

    def _places(self, texts: Iterable[str]) -> list[Place]:
        places: list[Place] = []
        for text in texts:
            place = self.hash_function(text) if self.hash_function else None
            if not isinstance(place, int):
                raise ArgumentError(
                    "hash_function must return a whole number, "
                    f"gave {place!r} for {text!r}"
                )
            places.append(place)
        return places


@dataclass(slots=True)
class _Ring:
    """The nodes by place; a later node replaces one at the same place."""

    hashes: Hashes
    owners: dict[Place, str | None] = field(default_factory=dict)
    listed: set[str | None] = field(default_factory=set)
    in_order: tuple[list[Place], list[str | None]] | None = None

    def add(self, client_id: str | None, virtual_nodes: int) -> None:
        if None in self.listed and None in self.owners.values():
            # Java compares the new client with every node, and fails at this one.
            raise AllocationError("a client id is missing (null) among the client ids")
        first = 0
        if client_id in self.listed:
            first = sum(1 for owner in self.owners.values() if owner == client_id)
        named = "null" if client_id is None else client_id
        texts = [f"{named}-{number}" for number in range(first, first + virtual_nodes)]
        self.owners.update(dict.fromkeys(self.hashes(texts), client_id))
        self.listed.add(client_id)

    def route(
        self, queues: Sequence[MessageQueue]
    ) -> Iterator[tuple[MessageQueue, str | None]]:
        """Yield each queue with the client that takes it; nothing on an empty ring."""
        if not self.owners:
            return
        if self.in_order is None:
            self.in_order = self._ordered()
        places, owners = self.in_order
        for queue, place in zip(queues, self.hashes(map(str, queues)), strict=True):
            yield queue, owners[bisect_left(places, place)]

    def _ordered(self) -> tuple[list[Place], list[str | None]]:
        places = sorted(self.owners)
        owners = [self.owners[place] for place in places]
        # An extra owner at the end saves the test for "past the last node".
        owners.append(owners[0])
        return places, owners
