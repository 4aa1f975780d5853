"""Waits for what other processes or tasks bring about, with a limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

_PAUSE_SECONDS: Final = 0.02
# A busy machine is no fault: this ends a wait that would never end.
PATIENCE_SECONDS: Final = 60.0


async def eventually(
    look: Callable[[], Awaitable[T]], expected: T, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Look again and again until the expected value is seen."""
    deadline = time.monotonic() + seconds
    seen = await look()
    while seen != expected:
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s: {seen!r}, expected {expected!r}")
        await asyncio.sleep(_PAUSE_SECONDS)
        seen = await look()


async def until(
    look: Callable[[], Awaitable[T]],
    holds: Callable[[T], bool],
    *,
    seconds: float = PATIENCE_SECONDS,
    explain: Callable[[], Awaitable[object]] | None = None,
) -> T:
    """Look again and again until `holds`; return what was seen then.

    Fail with what was seen last, and with what `explain` then tells.
    """
    deadline = time.monotonic() + seconds
    seen = await look()
    while not holds(seen):
        if time.monotonic() > deadline:
            why = f"; {await explain()}" if explain else ""
            raise AssertionError(f"after {seconds} s still: {seen!r}{why}")
        await asyncio.sleep(_PAUSE_SECONDS)
        seen = await look()
    return seen
