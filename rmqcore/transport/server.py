"""A listening socket whose connections are channels.

With TLS the first byte decides, as in RocketMQ: 0x16 begins a handshake, anything
else is a plain frame (whose first byte is 0, frames being below 16 MiB). The byte is
peeked before asyncio owns the socket, so nothing has to be replayed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
from collections.abc import Callable
from typing import Final

from rmqcore.errors import ConnectError, StateError
from rmqcore.protocol.frames import MAX_FRAME_BYTES

from .address import format_address
from .channel import Channel, Handler
from .tls import TlsMode

logger = logging.getLogger(__name__)

_TLS_HANDSHAKE: Final = 0x16
_FIRST_BYTE_TIMEOUT_S: Final = 120.0
"""A plain connection may stay silent this long before its first request."""
_BACKLOG: Final = 1024


class Server:
    """Accepts channels on one address; not reusable after `stop`."""

    def __init__(
        self,
        handler: Handler,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
        tls_mode: TlsMode = TlsMode.PERMISSIVE,
        on_open: Callable[[Channel], None] | None = None,
        on_close: Callable[[Channel], None] | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        self._handler = handler
        self._host = host
        self._port = port
        self._tls = tls
        self._tls_mode = tls_mode
        self._on_open = on_open
        self._on_close = on_close
        self._max_frame_bytes = max_frame_bytes
        self._listener: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._greeting: set[asyncio.Task[None]] = set()
        self._channels: set[Channel] = set()

    @property
    def address(self) -> str:
        """`host:port` as bound; raises `StateError` before `start`."""
        if self._listener is None:
            raise StateError("the server has no address before start")
        name = self._listener.getsockname()
        return format_address(name[0], name[1])

    @property
    def channels(self) -> frozenset[Channel]:
        """The channels open now."""
        return frozenset(self._channels)

    async def start(self) -> None:
        """Bind and accept; raise `ConnectError` when the address cannot be bound."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        try:
            listener.bind((self._host, self._port))
        except OSError as error:
            listener.close()
            where = format_address(self._host, self._port)
            raise ConnectError(f"{where}: {error.strerror or error}") from error
        listener.listen(_BACKLOG)
        self._listener = listener
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    async def stop(self) -> None:
        """Stop accepting, close every channel, wait until they have ended."""
        tasks = list(self._greeting)
        if self._accepting is not None:
            tasks.append(self._accepting)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._listener is not None:
            self._listener.close()
        await asyncio.gather(*(channel.close() for channel in list(self._channels)))

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        assert self._listener is not None  # noqa: S101 - start set it
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError as error:
                # Out of descriptors: the listener still works, so wait for some.
                logger.warning("accept failed: %s", error)
                await asyncio.sleep(0.1)
                continue
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            task = loop.create_task(self._greet(accepted))
            self._greeting.add(task)
            task.add_done_callback(self._greeting.discard)

    async def _greet(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            tls = await self._choose_tls(accepted)
            await loop.connect_accepted_socket(self._channel, accepted, ssl=tls)
        except (OSError, TimeoutError) as error:
            logger.info("connection refused: %s", error)
            accepted.close()
        except asyncio.CancelledError:
            accepted.close()
            raise

    async def _choose_tls(self, accepted: socket.socket) -> ssl.SSLContext | None:
        if self._tls is None or self._tls_mode is TlsMode.DISABLED:
            return None
        if self._tls_mode is TlsMode.ENFORCING:
            return self._tls
        async with asyncio.timeout(_FIRST_BYTE_TIMEOUT_S):
            await _readable(accepted)
        first = accepted.recv(1, socket.MSG_PEEK)
        return self._tls if first and first[0] == _TLS_HANDSHAKE else None

    def _channel(self) -> Channel:
        return Channel(
            self._handler,
            on_open=self._opened,
            on_close=self._ended,
            max_frame_bytes=self._max_frame_bytes,
            waits_for_reader=True,
        )

    def _opened(self, channel: Channel) -> None:
        self._channels.add(channel)
        if self._on_open is not None:
            self._on_open(channel)

    def _ended(self, channel: Channel) -> None:
        self._channels.discard(channel)
        if self._on_close is not None:
            self._on_close(channel)


async def _readable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(sock, wake)
    try:
        await ready
    finally:
        with contextlib.suppress(ValueError, OSError):
            loop.remove_reader(sock)
