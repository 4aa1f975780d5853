"""How many calls a token may make a minute, counted in the cache for all processes.

A cache that loses its data or is away refuses nobody.
"""

from __future__ import annotations

import contextlib
import math
import time

from django.conf import settings
from django.core.cache import cache
from redis import RedisError

MINUTE = 60


class TooManyCallsError(Exception):
    """The limit is reached; `retry_after` is when the next call may come, in s."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"this token has made {limit} calls in this minute, which is the limit; "
            f"try again in {retry_after} s"
        )
        self.retry_after = retry_after


def count_call(token_id: int) -> None:
    """Count a call of a token; raise TooManyCallsError beyond its limit."""
    limit, now = settings.ROCKETSCOPE_TOKEN_CALLS, time.time()
    key = f"token-calls:{token_id}:{int(now // MINUTE)}"
    made = 0
    # A ValueError means that it expired between the two calls: start afresh.
    with contextlib.suppress(RedisError, ValueError):
        cache.add(key, 0, 2 * MINUTE)
        made = cache.incr(key)
    if made > limit:
        raise TooManyCallsError(limit, max(1, math.ceil(MINUTE - now % MINUTE)))
