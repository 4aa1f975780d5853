"""Receives the messages that other processes publish through the cache, forever.

Such messages only speed things up: receivers also check by themselves now and then, so
messages published while the cache is away may be lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

import redis
import redis.asyncio

logger = logging.getLogger(__name__)

RECONNECT_SECONDS: Final = 1.0
_WAIT_SECONDS: Final = 5.0


async def hear(
    client: redis.asyncio.Redis, *channels: str
) -> AsyncIterator[tuple[str, bytes]]:
    """Yield (channel, message) as they come; reconnect when the cache was away."""
    while channels:
        try:
            async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
                await pubsub.subscribe(*channels)
                while True:
                    # Waiting without a limit would end with the socket's own timeout.
                    message = await pubsub.get_message(timeout=_WAIT_SECONDS)
                    if message is not None:
                        yield message["channel"].decode(), message["data"]
        except (redis.RedisError, OSError) as error:
            logger.warning("channels=%s not heard: %s", ",".join(channels), error)
            await asyncio.sleep(RECONNECT_SECONDS)
