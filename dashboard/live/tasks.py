"""Ends tasks that would run forever."""

from __future__ import annotations

import asyncio
from typing import Any, Final

ASKED_AGAIN_SECONDS: Final = 1.0


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until all of them have ended.

    Once may not suffice: up to Python 3.11 `asyncio.wait_for`, in which the Redis
    client sends, drops a cancellation that arrives just as the awaited work ends. Use
    it only for tasks without work to do after their cancellation, which would be cut
    off.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _ended, running = await asyncio.wait(running, timeout=ASKED_AGAIN_SECONDS)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # read it, or the loop complains about it
