"""A network in memory, with a time of its own: no socket, no waiting, no chance.

Theory. An event loop asks its selector to wait until a timer is due; this one moves its
clock there instead, so a broker that never answers costs the three seconds of a
time-out in no time, and the same story takes the same course each time it is told.
Channels, pool, grace and breakers of `rmqcore` run on it as they are: only what lies
below a channel, the transport, is another.

The loop runs in a thread of its own, because the collector under test has another loop,
with a real Valkey and a real database. Whoever waits for what nobody will ever say is
told so: `RuntimeError`.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rmqcore.transport.channel import Channel, Handler

T = TypeVar("T")

START_MS = 1_700_000_000_000


class Network:
    """Peers by address, and the loop on which they are asked."""

    def __init__(self) -> None:
        self._loop = _Loop(self)
        self._thread = ThreadPoolExecutor(1, "network")
        self._peers: dict[str, Handler] = {}
        self._open: dict[str, list[_End]] = {}

    # The clock of everything that takes part (`rmqcore.transport.clock.Clock`).

    def monotonic(self) -> float:
        """Return the seconds since the network was made."""
        return self._loop.time()

    def time_ms(self) -> int:
        """Return the time of day, in milliseconds."""
        return START_MS + round(self._loop.time() * 1000)

    async def sleep(self, seconds: float) -> None:
        """Let time pass; only for what runs on this network."""
        await asyncio.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Let time pass while nothing runs."""
        self._loop.now += seconds

    # Peers

    def serve(self, address: str, handler: Handler) -> None:
        """Have requests to an address answered from now on."""
        self._peers[address] = handler

    async def cut(self, address: str) -> None:
        """Refuse connections to an address from now on, and end those there are."""
        self._peers.pop(address, None)
        for end in self._open.pop(address, ()):
            end.close()
        await asyncio.sleep(0)

    def connect(self, address: str, client: asyncio.Protocol) -> _End:
        """Open a connection; raise `ConnectionRefusedError` where nobody listens."""
        handler = self._peers.get(address)
        if handler is None:
            raise ConnectionRefusedError(111, "Connection refused")
        near, far = _End(self._loop, address), _End(self._loop, address)
        near.join(far, client)
        far.join(near, Channel(handler))
        self._open.setdefault(address, []).append(near)
        for end in (far, near):
            end.protocol.connection_made(end)
        return near

    # Running

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the network, from another loop."""
        asking = asyncio.get_running_loop()
        return await asking.run_in_executor(self._thread, self._run, work)

    def close(self) -> None:
        """End the thread and the loop."""
        self._thread.shutdown()
        self._loop.close()

    def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return self._loop.run_until_complete(work())


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose time is what its timers make it."""

    def __init__(self, network: Network) -> None:
        self.now = 0.0
        self._network = network
        super().__init__(_Skipping(self))

    def time(self) -> float:
        return self.now

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.Protocol],
        host: str,
        port: int,
        **_options: object,
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        protocol = protocol_factory()
        return self._network.connect(f"{host}:{port}", protocol), protocol


class _Skipping(selectors.SelectSelector):
    """Waits for nothing: the time until the next timer has passed at once."""

    def __init__(self, loop: _Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if timeout is None and not ready:
            raise RuntimeError("everybody waits, and nobody will ever answer")
        if timeout and not ready:
            self._loop.now += timeout
        return ready


class _End(asyncio.Transport):
    """One end of a connection; what is written arrives in the next turn of the loop."""

    def __init__(self, loop: _Loop, address: str) -> None:
        super().__init__({"peername": address, "sockname": address})
        self.protocol: asyncio.Protocol
        self._loop = loop
        self._other: _End
        self._closing = False

    def join(self, other: _End, protocol: asyncio.Protocol) -> None:
        self._other, self.protocol = other, protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._loop.call_soon(self._other.deliver, bytes(data))

    def deliver(self, data: bytes) -> None:
        if not self._closing:
            self.protocol.data_received(data)

    def close(self) -> None:
        for end in (self, self._other):
            if not end._closing:
                end._closing = True
                self._loop.call_soon(end.protocol.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """Nothing piles up here."""

    def resume_reading(self) -> None:
        """Nothing was held back."""
