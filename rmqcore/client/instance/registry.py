"""One client instance per client id and cluster in a process (A5c).

Asking again for a client id returns the existing instance, with a warning. Instances
belong to the event loop that made them; another loop of the same process may not share
them, and gets an error that says so. The last user to leave stops the instance.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from rmqcore.errors import StateError

from .client_instance import ClientInstance
from .timer_driver import TimerDriver

logger = logging.getLogger(__name__)

Key = tuple[str, frozenset[str]]


@dataclass(slots=True)
class _Entry:
    instance: ClientInstance
    driver: TimerDriver | None
    loop: asyncio.AbstractEventLoop
    users: int = 1


class InstanceRegistry:
    """The client instances of a process, or of a test that plays several processes."""

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry] = {}

    def acquire(
        self,
        client_id: str,
        nameservers: tuple[str, ...],
        make: Callable[[], ClientInstance],
        *,
        internal_timers: bool,
    ) -> ClientInstance:
        """Return the instance of a client id, made by `make` when there is none.

        With `internal_timers`, its own clock runs the periodic work; the choice of the
        caller who made it counts. Raises `StateError` when it belongs to another event
        loop.
        """
        key = client_id, frozenset(nameservers)
        loop = asyncio.get_running_loop()
        entry = self._entries.get(key)
        if entry is not None and not entry.loop.is_closed():
            if entry.loop is not loop:
                raise StateError(f"client {client_id} runs on another event loop")
            logger.warning("client=%s exists already and is shared", client_id)
            entry.users += 1
            return entry.instance
        instance = make()
        driver = TimerDriver(instance) if internal_timers else None
        if driver is not None:
            driver.start()
        self._entries[key] = _Entry(instance, driver, loop)
        return instance

    async def release(self, instance: ClientInstance) -> None:
        """Leave an instance; the last one to leave stops it."""
        key = instance.client_id, frozenset(instance.nameservers.addresses)
        entry = self._entries[key]
        entry.users -= 1
        if entry.users:
            return
        del self._entries[key]
        if entry.driver is not None:
            await entry.driver.stop()
        await instance.stop()


PROCESS_REGISTRY = InstanceRegistry()
"""The registry of this process, used unless another one is given."""
