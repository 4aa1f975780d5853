"""Tells the collector what a hosted member holds, as soon as it changes.

An announcement is stored in the cache (for a collector that starts later) and published
on a channel (for the one that runs). It is repeated while the member lives, because an
announcement that is not repeated is no longer trusted, and is withdrawn when the member
leaves. Nobody waits for it: if one cannot be sent, the next one follows.
"""

from __future__ import annotations

import logging
from dataclasses import replace

import redis
import redis.asyncio
from redis.asyncio.client import Pipeline

from dashboard.live.holdings import Holding, encode_holding, field_of
from dashboard.live.names import allocation_channel, allocation_key

logger = logging.getLogger(__name__)


class Announcer:
    """Sends the announcements of one worker's members."""

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._client = client

    async def say(self, cluster: str, holding: Holding) -> None:
        """Announce what a member holds; a failure is logged."""
        text = encode_holding(holding)
        field = field_of(holding.group, holding.client_id)
        async with self._client.pipeline(transaction=False) as pipeline:
            pipeline.hset(allocation_key(cluster), field, text.decode())
            await self._send(pipeline, cluster, text)

    async def take_back(self, cluster: str, holding: Holding) -> None:
        """Announce that a member has left and holds nothing any more."""
        text = encode_holding(replace(holding, left=True))
        field = field_of(holding.group, holding.client_id)
        async with self._client.pipeline(transaction=False) as pipeline:
            pipeline.hdel(allocation_key(cluster), field)
            await self._send(pipeline, cluster, text)

    async def _send(self, pipeline: Pipeline, cluster: str, text: bytes) -> None:
        pipeline.publish(allocation_channel(cluster), text)
        try:
            await pipeline.execute()
        except (redis.RedisError, OSError) as error:
            logger.warning("cluster=%s not announced: %s", cluster, error)
