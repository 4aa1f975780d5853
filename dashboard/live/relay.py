"""Passes published messages to all sockets of this process that watch them.

One subscription for each name, however many sockets watch it: a message is read and
unpacked once, and only written to each. Each socket has its own outbox, so that a slow
or vanished reader holds up no other; when its outbox is full it is cut off, and the
page, which connects again, loads the document instead of the missed messages.

Belongs to one event loop: `relay()` returns the running loop's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import redis
from channels.layers import get_channel_layer

from .tasks import end_tasks

logger = logging.getLogger(__name__)

OUTBOX_LIMIT: Final = 64
"""Messages waiting for one socket; at one a second that is a minute behind."""


class Outbox:
    """The messages waiting for one socket, and the task that writes them."""

    def __init__(
        self, send: Callable[[str], Awaitable[None]], cut: Callable[[], Awaitable[None]]
    ) -> None:
        self._send = send
        self._cut = cut
        self._waiting: asyncio.Queue[str] = asyncio.Queue(OUTBOX_LIMIT)
        loop = asyncio.get_running_loop()
        self._writing = loop.create_task(self._write())
        self._cutting: asyncio.Task[None] | None = None

    def put(self, text: str) -> None:
        """Queue a message after those that wait; cut the socket when full."""
        if self._cutting is not None:
            return
        try:
            self._waiting.put_nowait(text)
        except asyncio.QueueFull:
            logger.warning("live socket cut off: %d messages behind", OUTBOX_LIMIT)
            self.cut()

    def cut(self) -> None:
        """Close the socket; waiting messages are dropped."""
        if self._cutting is None:
            self._writing.cancel()
            loop = asyncio.get_running_loop()
            self._cutting = loop.create_task(self._close_socket())

    async def close(self) -> None:
        """End the task; messages still waiting are dropped."""
        await end_tasks(self._writing)

    async def _write(self) -> None:
        while True:
            text = await self._waiting.get()
            try:
                await self._send(text)
            except Exception as error:
                # Servers differ in how they report that the other side has gone.
                logger.debug("live socket went while written to: %r", error)
                return

    async def _close_socket(self) -> None:
        try:
            await self._cut()
        except Exception as error:
            logger.debug("live socket had gone: %r", error)


class _Line:
    """One name: its subscription, and the outboxes of its watchers."""

    def __init__(self, name: str) -> None:
        self.outboxes: set[Outbox] = set()
        self._name = name
        self._layer: Any = get_channel_layer()
        self._channel = ""
        loop = asyncio.get_running_loop()
        self.ready = loop.create_task(self._subscribe())
        self._passing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        self.ready.cancel()
        if self._passing is not None:
            await end_tasks(self._passing)
            await self._layer.group_discard(self._name, self._channel)

    async def _subscribe(self) -> None:
        self._channel = await self._layer.new_channel()
        await self._layer.group_add(self._name, self._channel)
        loop = asyncio.get_running_loop()
        self._passing = loop.create_task(self._pass_on())

    async def _pass_on(self) -> None:
        try:
            while True:
                text = await self._next_text()
                for outbox in self.outboxes:
                    outbox.put(text)
        except (redis.RedisError, OSError) as error:
            logger.warning("live name=%s not heard: %s", self._name, error)
            for outbox in self.outboxes:
                outbox.cut()

    async def _next_text(self) -> str:
        """Return the next message; bytes that we did not write are left out."""
        while True:
            try:
                text = (await self._layer.receive(self._channel))["text"]
            except (ValueError, TypeError, KeyError) as error:
                logger.warning("live name=%s foreign message: %r", self._name, error)
                continue
            if isinstance(text, str):
                return text


class Relay:
    """The names that sockets of one event loop watch."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    async def join(self, name: str, outbox: Outbox) -> None:
        """Pass on messages published under a name from now on."""
        line = self._lines.get(name)
        if line is None or (line.ready.done() and not _worked(line.ready)):
            line = self._lines[name] = _Line(name)
        line.outboxes.add(outbox)
        try:
            # One socket that leaves must not end a subscription that others wait for.
            await asyncio.shield(line.ready)
        except BaseException:
            line.outboxes.discard(outbox)
            raise

    async def leave(self, name: str, outbox: Outbox) -> None:
        """Stop passing on messages; the last outbox to leave ends the subscription."""
        line = self._lines.get(name)
        if line is None:
            return
        line.outboxes.discard(outbox)
        if not line.outboxes:
            del self._lines[name]
            await line.close()


def _worked(task: asyncio.Task[None]) -> bool:
    return not task.cancelled() and task.exception() is None


_relays: WeakKeyDictionary[asyncio.AbstractEventLoop, Relay] = WeakKeyDictionary()


def relay() -> Relay:
    """Return the relay of the running event loop."""
    return _relays.setdefault(asyncio.get_running_loop(), Relay())
