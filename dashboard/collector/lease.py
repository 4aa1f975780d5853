"""Who leads a cluster: a lease in the cache, with a fencing number.

At most one collector writes a cluster's documents. It holds a key that expires unless
it is renewed; the key's value, the *token*, is its name and a fence that grows with
each change of lead. Writers compare the token inside the cache
(`live.state.LeaderState`), so a leader that was frozen past its lease writes nothing
when it wakes.

The lease is renewed by a thread of its own with a connection of its own (`Renewals`),
whatever the event loop is busy with. Sweeps check whether they lead without a round
trip. Renewing ends when nothing ran on the loop for a minute: a collector that lives
but does nothing must not keep others from leading.

A lease that ran out, or that the cache forgot with everything else, is not lost before
another collector takes it. The fence tells: if it is the collector's own, or forgotten,
nobody has led meanwhile, and the collector takes its lease up again under the same
token. Fences start from the clock, so a number given after a restart of the cache is
above those before, unless the clock was set back: a fence below the collector's own is
a sign of another leader, too.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, cast

import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

from dashboard.live.names import fence_key, lease_key

logger = logging.getLogger(__name__)

LEASE_SECONDS: Final = 15.0
RENEW_SECONDS: Final = 1.5
RENEW_TIMEOUT_SECONDS: Final = 4.0
"""A late answer is waited for this long; three such waits fit into a lease."""

LOOP_DEAD_SECONDS: Final = 60.0
"""When nothing ran on the event loop for this long, its leases are not renewed."""

_HOLD: Final = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return false end
if held then
  -- Allowed even at the cache's limit of memory, as SET is not.
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return held
end
local token = ARGV[1]
local fence = tonumber(redis.call('GET', KEYS[2]) or '0')
local mine = tonumber(ARGV[2])
if mine == 0 or (fence ~= 0 and fence ~= mine) then
  mine = math.max(fence + 1, mine + 1, tonumber(ARGV[5]))
  token = ARGV[4] .. '|' .. string.format('%.0f', mine)
end
redis.call('SET', KEYS[2], string.format('%.0f', mine))
redis.call('SET', KEYS[1], token, 'PX', ARGV[3])
return token
"""

_RENEW: Final = """
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return held
"""

_RELEASE: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class Lease:
    """One collector's hold on the lead of one cluster.

    `hold` and `release` belong to an event loop; `renew` may be called from a thread
    meanwhile. `seconds` is how long the lease lasts without being renewed.
    """

    def __init__(
        self,
        client: redis.asyncio.Redis,
        cluster: str,
        holder: str,
        *,
        seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cluster = cluster
        self.lapses = 0
        """How often the lease ran out and was taken up again before anyone else led."""
        self._holder = holder
        self._seconds = seconds
        self._clock = clock
        self._guard = threading.Lock()
        self._token = ""
        self._until = 0.0
        self._hold = client.register_script(_HOLD)
        self._release = client.register_script(_RELEASE)

    @property
    def token(self) -> str:
        """The key's value while this collector leads; empty while it does not.

        If the token has changed, so has the lead: another collector may have led in
        between.
        """
        return self._token

    @property
    def fresh(self) -> bool:
        """True while over half of the lease is left: the cache need not be asked."""
        with self._guard:
            left = self._until - self._clock()
        return bool(self._token) and left > self._seconds / 2

    def doubt(self) -> None:
        """Make `fresh` false until the lease is asked for: a write was refused."""
        with self._guard:
            self._until = 0.0

    async def hold(self, now_ms: int) -> bool:
        """Take or renew the lead; False while another collector has it."""
        asked, asked_at = self._token, self._clock()
        token = await self._hold(
            keys=[lease_key(self.cluster), fence_key(self.cluster)],
            args=[asked, _fence_of(asked), self._milliseconds, self._holder, now_ms],
        )
        with self._guard:
            if token:
                self._take(token.decode(), asked_at)
            elif self._token == asked:
                self._token, self._until = "", 0.0
            return bool(self._token)

    def renew(self, client: redis.Redis) -> None:
        """Extend a lease that is held, using a client of the calling thread.

        Never takes one: a renewal under way must not bring back a lease being given up.
        """
        asked, asked_at = self._token, self._clock()
        if not asked:
            return
        keys_and_args = (lease_key(self.cluster), asked, self._milliseconds)
        held = cast("bytes | None", client.eval(_RENEW, 1, *keys_and_args))
        with self._guard:
            if self._token != asked:
                return
            if held is None:
                self._until = 0.0
            elif held.decode() == asked:
                self._until = max(self._until, asked_at + self._seconds)
            else:
                self._token, self._until = "", 0.0

    async def release(self) -> None:
        """Give the lead up, so that another collector need not wait for its end."""
        with self._guard:
            token, self._token, self._until = self._token, "", 0.0
        if token:
            await self._release(keys=[lease_key(self.cluster)], args=[token])

    @property
    def _milliseconds(self) -> int:
        return round(self._seconds * 1000)

    def _take(self, token: str, asked_at: float) -> None:
        if _fence_of(token) < _fence_of(self._token):
            return  # an answer that a newer one has overtaken
        if token == self._token and self._until <= asked_at:
            self.lapses += 1
        self._token = token
        self._until = asked_at + self._seconds


class Renewals:
    """Renews the leases of one process, from `start` to `stop`, in one thread.

    `alive` tells whether the event loop does anything at all. Cost: one round trip
    every 1.5 s for each cluster that is led; the thread has its own connection, so that
    nothing waiting for the loop holds it up.
    """

    def __init__(
        self,
        url: str,
        leases: Sequence[Lease],
        *,
        alive: Callable[[], bool],
        every_seconds: float = RENEW_SECONDS,
    ) -> None:
        self._leases = leases
        self._alive = alive
        self._every = every_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=RENEW_TIMEOUT_SECONDS,
            socket_connect_timeout=RENEW_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),  # the next round is soon
        )

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing; returns when the thread has ended."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        self._client.close()

    def renew_all(self) -> None:
        """Renew every lease that is held, unless the loop is dead."""
        if not self._alive():
            return
        # A copy: leases come and go with clusters, on another thread.
        for lease in tuple(self._leases):
            try:
                lease.renew(self._client)
            except (redis.RedisError, OSError) as error:
                logger.warning("cluster=%s lease not renewed: %s", lease.cluster, error)

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self.renew_all()


def _fence_of(token: str) -> int:
    return int(token.rpartition("|")[2] or 0)
