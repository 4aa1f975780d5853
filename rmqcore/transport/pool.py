"""One shared channel per address, opened when first asked for.

Callers that ask for the same address at the same time share one connection attempt. A
channel that has ended is replaced at the next call. Hooks see every request before it
is framed (credentials are signed there, after everything else has been added).
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Sequence

from rmqcore.errors import StateError
from rmqcore.protocol.command import RemotingCommand

from .channel import DEFAULT_TIMEOUT_S, Channel, Handler, connect

RequestHook = Callable[[str, RemotingCommand], None]
"""Changes a request in place before it is sent: (address, command)."""


class ChannelPool:
    """Channels by address. Belongs to one event loop."""

    def __init__(
        self,
        *,
        handler: Handler | None = None,
        tls: ssl.SSLContext | None = None,
        hooks: Sequence[RequestHook] = (),
        connect_timeout: float = DEFAULT_TIMEOUT_S,
        on_close: Callable[[Channel], None] | None = None,
    ) -> None:
        self._handler = handler
        self._tls = tls
        self._hooks = tuple(hooks)
        self._connect_timeout = connect_timeout
        self._on_close = on_close
        self._channels: dict[str, Channel] = {}
        self._connecting: dict[str, asyncio.Task[Channel]] = {}
        self._closed = False

    @property
    def addresses(self) -> frozenset[str]:
        """The addresses with an open channel."""
        return frozenset(
            address for address, channel in self._channels.items() if not channel.closed
        )

    async def channel(self, address: str) -> Channel:
        """Return the open channel to `address`; connect when there is none.

        Raises `ConnectError`; `StateError` after `close`.
        """
        channel = self._channels.get(address)
        if channel is not None and not channel.closed:
            return channel
        if self._closed:
            raise StateError(f"{address}: the channel pool is closed")
        connecting = self._connecting.get(address)
        if connecting is None:
            connecting = asyncio.get_running_loop().create_task(self._connect(address))
            # Read it even when every caller has gone, or the loop complains.
            connecting.add_done_callback(
                lambda task: task.cancelled() or task.exception()
            )
            self._connecting[address] = connecting
        # Shielded: one caller's time-out must not end the attempt of the others.
        return await asyncio.shield(connecting)

    async def request(
        self,
        address: str,
        command: RemotingCommand,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> RemotingCommand:
        """Send a request to `address` and return the response, whatever its code."""
        channel = await self.channel(address)
        return await self.send_nowait(channel, address, command, timeout)

    def send_nowait(
        self,
        channel: Channel,
        address: str,
        command: RemotingCommand,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> asyncio.Future[RemotingCommand]:
        """Send on a channel of this pool, hooks included, without waiting."""
        for hook in self._hooks:
            hook(address, command)
        return channel.send_request_nowait(command, timeout)

    async def oneway(self, address: str, command: RemotingCommand) -> None:
        """Send a one-way request to `address`."""
        channel = await self.channel(address)
        for hook in self._hooks:
            hook(address, command)
        channel.send_oneway(command)

    async def discard(self, address: str) -> None:
        """Close the channel to `address`, if any; the next call makes a new one."""
        channel = self._channels.pop(address, None)
        if channel is not None:
            await channel.close()

    async def close(self) -> None:
        """Close every channel; the pool accepts no further calls."""
        self._closed = True
        connecting = list(self._connecting.values())
        for task in connecting:
            task.cancel()
        await asyncio.gather(*connecting, return_exceptions=True)
        channels, self._channels = list(self._channels.values()), {}
        await asyncio.gather(*(channel.close() for channel in channels))

    async def _connect(self, address: str) -> Channel:
        try:
            channel = await connect(
                address,
                handler=self._handler,
                tls=self._tls,
                timeout=self._connect_timeout,
                on_close=self._ended,
            )
            self._channels[address] = channel
            return channel
        finally:
            self._connecting.pop(address, None)

    def _ended(self, channel: Channel) -> None:
        if self._channels.get(channel.remote_address) is channel:
            del self._channels[channel.remote_address]
        if self._on_close is not None:
            self._on_close(channel)
