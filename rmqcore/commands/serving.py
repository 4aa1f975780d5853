"""Running something until the process is told to stop."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


class Service(Protocol):
    """Something that is started and stopped once."""

    async def start(self) -> object:
        """Begin to serve."""

    async def stop(self) -> object:
        """End in good order."""


def serve(
    service: Callable[[], Service],
    describe: Callable[[Any], Mapping[str, object]],
    after_start: Callable[[Any], Awaitable[None]] | None = None,
) -> int:
    """Start the service, print one JSON line when it is ready, stop it on a signal.

    `service` is called inside the event loop. Returns the exit code 0 after SIGINT or
    SIGTERM; raises the errors of `start`.
    """
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(service, describe, after_start))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the factory of uvloop's event loop, where installed: it costs less."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(
    make: Callable[[], Service],
    describe: Callable[[Any], Mapping[str, object]],
    after_start: Callable[[Any], Awaitable[None]] | None,
) -> int:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _STOPPING:
        loop.add_signal_handler(number, told.set)
    service = make()
    await service.start()
    # The objects there now stay: the collector need not check them again and again.
    gc.collect()
    gc.freeze()
    try:
        if after_start is not None:
            await after_start(service)
        print(json.dumps(describe(service)), flush=True)  # noqa: T201 - the output
        await told.wait()
    finally:
        await service.stop()
    return 0
