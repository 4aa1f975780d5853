"""Waiting for something outside of our own processes, which no clock of ours moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from .java_members import AT_REST_S

T = TypeVar("T")

_POLL_SECONDS: Final = 0.05


async def eventually(
    look: Callable[[], Awaitable[T]],
    wanted: Callable[[T], bool],
    *,
    timeout: float = AT_REST_S,
    explain: Callable[[], Awaitable[object]] | None = None,
) -> T:
    """Return the first thing seen that is wanted.

    Fail with the last one seen, and with what `explain` then tells.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not wanted(seen := await look()):
        if loop.time() > deadline:
            why = f"; {await explain()}" if explain else ""
            raise AssertionError(f"not within {timeout} s, last seen: {seen}{why}")
        await asyncio.sleep(_POLL_SECONDS)
    return seen
