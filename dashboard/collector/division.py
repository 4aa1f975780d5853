"""How living collectors divide the clusters among themselves: who takes which lease.

A collector that does not lead a cluster asks about once a second how all leases stand,
and says with the same question that it lives. A free lease is meant for the living
collector that leads the fewest clusters; as all see the same, they agree without a
word. One that nobody took for `UNTAKEN_SECONDS` is for anyone, so a collector that says
it lives and takes nothing costs a cluster only that.

When one collector leads at least two clusters more than another, it gives one up after
a sweep. Only the collector that leads most does so, and only while every cluster has a
leader, so clusters move one at a time, no more of them than needed, and rest once the
numbers differ by one at most: nobody leads more than its share, rounded up.

Clusters count alike, whatever their size. Numbers of groups change between sweeps, and
a division that follows them would move clusters that nothing is wrong with.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

import redis.asyncio

from dashboard.live.living import FORGET_DEAD
from dashboard.live.names import collectors_key, lease_key

HEARD_SECONDS: Final = 5.0
"""A collector counts as living for this long after it asked. Shorter than a lease: what
a dead collector led is not meant for it."""
UNTAKEN_SECONDS: Final = 5.0
"""A lease that stayed free for this long may be taken by any collector."""
CONTENT_SECONDS: Final = 600.0
"""Who had to take a lease that was meant for another gives none up for this long: it
would only come back."""

# A cache that is full refuses the word, but still tells how the leases stand.
_LOOK: Final = (
    FORGET_DEAD
    + """
redis.pcall('ZADD', KEYS[1], now + life, ARGV[1])
redis.call('PEXPIRE', KEYS[1], life)
local held = {}
for i = 2, #KEYS do held[i - 1] = redis.call('GET', KEYS[i]) end
return {redis.call('ZRANGE', KEYS[1], 0, -1), held}
"""
)


@dataclass(frozen=True, slots=True)
class Leads:
    """Who lives, and who leads each cluster; None where the lease is free."""

    living: frozenset[str]
    leaders: Mapping[str, str | None]

    def meant(self) -> dict[str, str]:
        """Return, for each free cluster, the living collector that is to take it."""
        numbers = self._numbers()
        meant: dict[str, str] = {}
        for cluster in sorted(self.leaders):
            if self.leaders[cluster] is None:
                taker = min(self.living, key=lambda who: (numbers[who], who))
                meant[cluster] = taker
                numbers[taker] += 1
        return meant

    def surplus(self) -> tuple[str, str] | None:
        """Return the collector that is to give up a cluster, and which, if any."""
        if None in self.leaders.values():
            return None
        numbers = self._numbers()
        most = max(self.living, key=lambda who: (numbers[who], who))
        if numbers[most] - min(numbers[who] for who in self.living) < 2:
            return None
        return most, max(each for each, who in self.leaders.items() if who == most)

    def _numbers(self) -> Counter[str]:
        return Counter(who for who in self.leaders.values() if who is not None)


class Division:
    """One collector's part in the division; belongs to one event loop.

    `clusters` returns the names of all that are to be collected, `steady` seconds. Each
    question is one round trip, and raises `redis.RedisError` or `OSError` when the
    cache does not answer.
    """

    def __init__(
        self,
        client: redis.asyncio.Redis,
        holder: str,
        clusters: Callable[[], Collection[str]],
        *,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._holder = holder
        self._clusters = clusters
        self._steady = steady
        self._look = client.register_script(_LOOK)
        self._free_since: dict[str, float] = {}
        self._content_until = 0.0

    async def may_take(self, cluster: str) -> bool:
        """Tell whether to take the lease of a cluster that this collector lacks."""
        leads = await self._ask()
        meant = leads.meant().get(cluster)
        if meant is None or meant == self._holder:
            return meant is not None
        now = self._steady()
        if now - self._free_since[cluster] < UNTAKEN_SECONDS:
            return False
        self._content_until = now + CONTENT_SECONDS
        return True

    async def gives_up(self, cluster: str) -> bool:
        """Tell whether to give up a cluster that this collector leads."""
        if self._steady() < self._content_until:
            return False
        return (await self._ask()).surplus() == (self._holder, cluster)

    async def leave(self) -> None:
        """Take back the word that this collector lives: it stops."""
        await self._client.zrem(collectors_key(), self._holder)

    async def _ask(self) -> Leads:
        clusters = list(self._clusters())
        living, tokens = await self._look(
            keys=[collectors_key(), *map(lease_key, clusters)],
            args=[self._holder, round(HEARD_SECONDS * 1000)],
        )
        leaders = {
            cluster: None if token is None else token.decode().rpartition("|")[0]
            for cluster, token in zip(clusters, tokens, strict=True)
        }
        now = self._steady()
        self._free_since = {
            cluster: self._free_since.get(cluster, now)
            for cluster, leader in leaders.items()
            if leader is None
        }
        heard = {name.decode() for name in living}
        return Leads(frozenset(heard | {self._holder}), leaders)
