"""Workers tell each other through the cache that they are alive: a second witness.

A claim in the database cannot be renewed while the database is locked or away, though
its worker goes on working. So each worker also sends a heartbeat every second, to a
sorted set in the cache. A claim that ran out is taken over only if its worker's
heartbeats have stopped (see `planning`), and its worker may act for as long as it does
(see `hosted`). So that the two never overlap:

- The cache judges by its own clock, and a worker counts its time from before it asked,
  so a worker stops relying on a heartbeat before others stop seeing it.
- A heartbeat extends the right to act only if the one before had not run out; the cache
  says whether it had. A worker that was frozen past its heartbeats and its claims
  therefore has no right left when it wakes: another may have acted. It must renew its
  claims in the database first, where the fence tells.
- A worker that wants to take a claim over reads the heartbeats after the time by which
  it judges the claim; a later heartbeat extends no claim that was over at that time.
- A worker that gets no answer from the cache takes nothing over.

Losing the database leaves all members where they are, for any length of time; so does
losing the cache, as claims are renewed in the database. A worker that reaches neither
for ten seconds lets its members go.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import redis
import redis.asyncio

from dashboard.live.living import FORGET_DEAD
from dashboard.live.names import heartbeats_key

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS: Final = 10.0
"""A worker not heard for this long counts as dead, unless its claims still run."""

BEAT_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 2.0
"""A cache that does not answer within this time is away; claims are renewed anyway."""

_BEAT: Final = (
    FORGET_DEAD
    + """
local unbroken = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 1 or 0
redis.call('ZADD', KEYS[1], now + life, ARGV[1])
return {unbroken, redis.call('ZRANGE', KEYS[1], 0, -1)}
"""
)


@dataclass(frozen=True, slots=True)
class Beat:
    """What the cache answered: who is alive, this worker included, and until when.

    `unbroken` tells that this worker's previous heartbeat had not run out. `asked` and
    `until` are seconds of the worker's steady clock: the heartbeat holds until `until`.
    """

    alive: frozenset[str]
    unbroken: bool
    asked: float
    until: float


class Heartbeats:
    """The heartbeats of one worker; one round trip each."""

    def __init__(
        self, client: redis.asyncio.Redis, worker: str, steady: Callable[[], float]
    ) -> None:
        self._client = client
        self._worker = worker
        self._steady = steady
        self._beat = client.register_script(_BEAT)
        self._silent = False

    async def beat(self) -> Beat | None:
        """Send a heartbeat; None when the cache does not answer."""
        asked = self._steady()
        life_ms = round(HEARTBEAT_SECONDS * 1000)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                unbroken, names = await self._beat(
                    keys=[heartbeats_key()], args=[self._worker, life_ms]
                )
        except (redis.RedisError, OSError) as error:
            if not self._silent:
                self._silent = True
                logger.warning("worker=%s no heartbeat: %r", self._worker, error)
            return None
        self._silent = False
        alive = frozenset(name.decode() for name in names)
        return Beat(alive, bool(unbroken), asked, asked + HEARTBEAT_SECONDS)

    async def end(self) -> None:
        """Withdraw the heartbeat: the worker leaves, and has let all claims go."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._client.zrem(heartbeats_key(), self._worker)
        except (redis.RedisError, OSError) as error:
            logger.warning("worker=%s word not taken back: %r", self._worker, error)
