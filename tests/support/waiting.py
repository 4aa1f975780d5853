"""Waiting for something outside of our own processes, which no clock of ours moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

_POLL_SECONDS: Final = 0.05


async def eventually(
    look: Callable[[], Awaitable[T]],
    wanted: Callable[[T], bool],
    *,
    timeout: float = 60,
) -> T:
    """Return the first thing seen that is wanted; fail with the last one seen."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not wanted(seen := await look()):
        if loop.time() > deadline:
            raise AssertionError(f"not within {timeout} s, last seen: {seen}")
        await asyncio.sleep(_POLL_SECONDS)
    return seen
