"""Who leads a cluster: a lease in the cache, with a fencing number.

At most one collector writes a cluster's documents. It holds a key that runs out unless
renewed; the key's value is its name and a fence that grows with each change of lead.
Writers compare that value inside the cache (see `live.state.LeaderState`), so a leader
that was frozen past its lease writes nothing when it wakes.

The cache may lose everything when it restarts. Fences therefore start from the clock:
a number given after a restart is still above those given before.
"""

from __future__ import annotations

from typing import Final

import redis.asyncio

from dashboard.live.names import fence_key, lease_key

LEASE_SECONDS: Final = 5.0

_HOLD: Final = """
local held = redis.call('GET', KEYS[1])
if held == ARGV[1] and held then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return held
end
if held then return false end
local fence = math.max(tonumber(redis.call('GET', KEYS[2]) or '0') + 1, ARGV[4])
fence = string.format('%.0f', fence)
redis.call('SET', KEYS[2], fence)
local token = ARGV[3] .. '|' .. fence
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
return token
"""

_RELEASE: Final = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class Lease:
    """One collector's hold on the lead of one cluster."""

    def __init__(self, client: redis.asyncio.Redis, cluster: str, holder: str) -> None:
        self.token = ""
        self._cluster = cluster
        self._holder = holder
        self._hold = client.register_script(_HOLD)
        self._release = client.register_script(_RELEASE)

    async def hold(self, now_ms: int) -> bool:
        """Take or renew the lead; False while another collector has it.

        A changed `token` means that the lead was lost in between and is new: whatever
        was numbered under the old one is over.
        """
        token = await self._hold(
            keys=[lease_key(self._cluster), fence_key(self._cluster)],
            args=[self.token, int(LEASE_SECONDS * 1000), self._holder, now_ms],
        )
        self.token = token.decode() if token else ""
        return bool(self.token)

    async def release(self) -> None:
        """Give the lead up, so that another collector need not wait for its end."""
        if self.token:
            await self._release(keys=[lease_key(self._cluster)], args=[self.token])
            self.token = ""
