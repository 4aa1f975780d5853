"""Tell the pages of samples that no roll-up had read before they were deleted.

That happens when roll-ups have not run for two days. The notice stays in the cache for
a day after the last such file; it is also in the log of the analytics worker.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

import orjson
import redis
from django.conf import settings

from analytics.lake.retention import GivenUp
from dashboard.live.documents import LakeGap
from dashboard.live.names import lake_gap_key
from dashboard.live.state import live_state

logger = logging.getLogger(__name__)

TOLD_SECONDS: Final = 24 * 3600


def note_given_up(given_up: Iterable[GivenUp], now_ms: int) -> None:
    """Add files that were given up to the notices of their clusters."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        return
    state = live_state()
    for each in given_up:
        try:
            gap = _with(state.lake_gap(each.cluster), each, now_ms)
            key = lake_gap_key(each.cluster)
            state.client.set(key, orjson.dumps(gap), ex=TOLD_SECONDS)
        except redis.RedisError as error:
            logger.warning("pages were not told of %s: %s", each, error)


def _with(before: LakeGap | None, lost: GivenUp, now_ms: int) -> LakeGap:
    if before is None:
        before = LakeGap(files=0, first_at=lost.first_ms, last_at=lost.last_ms, at=0)
    return LakeGap(
        files=before["files"] + lost.files,
        first_at=min(before["first_at"], lost.first_ms),
        last_at=max(before["last_at"], lost.last_ms),
        at=now_ms,
    )
