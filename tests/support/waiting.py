"""Waits for what other processes, threads or tasks bring about, with a limit.

`until` and `wait_until` ask a plain condition, in a coroutine and in a thread;
`until_seen` and `eventually` look with a coroutine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

# A busy machine is no fault: this ends a wait that would never end.
PATIENCE_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.005
_LOOK_SECONDS: Final = 0.02
_LONGEST_PAUSE_SECONDS: Final = 0.25
_PART_OF_THE_WAIT: Final = 0.02


async def until(
    condition: Callable[[], object],
    what: str = "",
    *,
    seconds: float = PATIENCE_SECONDS,
) -> None:
    """Return when the condition holds; fail with what it is about."""
    began = time.monotonic()
    while not condition():
        _give_up_after(began + seconds, seconds, what or condition)
        await asyncio.sleep(pause_after(began, _PAUSE_SECONDS))


def wait_until(
    condition: Callable[[], object],
    what: str = "",
    *,
    seconds: float = PATIENCE_SECONDS,
) -> None:
    """Return when the condition holds, without an event loop."""
    began = time.monotonic()
    while not condition():
        _give_up_after(began + seconds, seconds, what or condition)
        time.sleep(pause_after(began, _PAUSE_SECONDS))


async def until_seen(
    look: Callable[[], Awaitable[T]],
    holds: Callable[[T], bool],
    *,
    seconds: float = PATIENCE_SECONDS,
    explain: Callable[[], Awaitable[object]] | None = None,
) -> T:
    """Look again and again until `holds`; return what was seen then.

    Fail with what was seen last, and with what `explain` then tells.
    """
    began = time.monotonic()
    seen = await look()
    while not holds(seen):
        if time.monotonic() > began + seconds:
            why = f"; {await explain()}" if explain else ""
            raise AssertionError(f"after {seconds:g} s still: {seen!r}{why}")
        await asyncio.sleep(pause_after(began, _LOOK_SECONDS))
        seen = await look()
    return seen


async def eventually(look: Callable[[], Awaitable[T]], expected: T) -> None:
    """Look again and again until the expected value is seen."""
    await until_seen(look, lambda seen: seen == expected)


def pause_after(began: float, least: float = _LOOK_SECONDS) -> float:
    """Return how long to sleep before the next look of a wait that began then.

    A wait that has lasted long may well be a fiftieth longer, and looking takes the
    processor from those who are waited for.
    """
    waited = time.monotonic() - began
    return min(max(least, waited * _PART_OF_THE_WAIT), _LONGEST_PAUSE_SECONDS)


def _give_up_after(deadline: float, seconds: float, what: object) -> None:
    if time.monotonic() > deadline:
        raise AssertionError(f"not within {seconds:g} s: {what}")
