"""Django's cache in Redis, with values as JSON.

Django itself pickles what it caches, and whoever can write to Redis could run code in
our processes. A value that is not JSON is read as None: a cache may lose values, so one
that cannot be read counts as lost.
"""

from __future__ import annotations

import logging
from typing import Any

import orjson

logger = logging.getLogger(__name__)


class JsonSerializer:
    """The serializer of Django's Redis cache; see the module's docstring."""

    def dumps(self, value: object) -> bytes:
        """Return a value as JSON; integers come out as Redis itself counts them."""
        return orjson.dumps(value)

    def loads(self, data: bytes) -> Any:
        """Return the value, or None where somebody else's bytes are in its place."""
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            logger.warning("a cached value of %d bytes: %s", len(data), error)
            return None


def redis_cache(url: str) -> dict[str, Any]:
    """Return the entry of `CACHES` for the server at a URL."""
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": "rs",
        "OPTIONS": {"serializer": f"{__name__}.{JsonSerializer.__name__}"},
    }
