"""Decodes what the cache holds, which may be anything."""

from __future__ import annotations

import logging
from typing import Any, cast

import orjson

logger = logging.getLogger(__name__)


def read_object(text: object) -> dict[str, Any] | None:
    """Decode a stored JSON object; None if there is none, or if there are other bytes.

    Bytes that we did not write count as missing: the next sweep writes again.
    """
    if not text:
        return None
    try:
        value = orjson.loads(cast("bytes", text))
    except orjson.JSONDecodeError as error:
        logger.warning("the cache holds what is not JSON: %s", error)
        return None
    return value if isinstance(value, dict) else None
