"""Who lives: a sorted set of the cache, with the time until which each name counts."""

from __future__ import annotations

from typing import Final

# Scores from after now + their life come from a clock that has been set back.
FORGET_DEAD: Final = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local life = tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + life + 1, '+inf')
"""
"""The beginning of a script whose first key is such a set, and whose second argument is
how long a name counts, in ms. Names that count no more are gone; `now` and `life` are
known to what follows."""
