"""A proxy on loopback that holds answers back, in a process of its own.

    python -m tests.support.delaying LISTEN TARGET

Both are HOST:PORT. It passes bytes on in both directions. A line `delay SECONDS` on its
standard input lets everything that the target sends from then on wait for so long, in
order; 0 lets it pass at once again. A process that dies takes its connections with it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from .json_lines import JsonLines

_PIECE: Final = 64 * 1024
_ROOT: Final = Path(__file__).parents[2]


class DelayingProxy(JsonLines):
    """The proxy as a child process; a context manager that kills it at the end."""

    def __init__(self, listen: str, target: str, *, log: Path) -> None:
        super().__init__(
            [sys.executable, "-m", "tests.support.delaying", listen, target],
            log=log,
            cwd=_ROOT,
        )
        self.wait_for(lambda event: event["event"] == "ready")

    def delay(self, seconds: float) -> None:
        """Hold back what the target answers from now on; return when it does."""
        before = len(self.events())
        self.write(f"delay {seconds}")
        self.wait_for(lambda event: event["event"] == "delay", after=before)


class Proxy:
    """Passes connections on to one target."""

    def __init__(self, target: str) -> None:
        self.delay_s = 0.0
        self._host, _, port = target.rpartition(":")
        self._port = int(port)

    async def serve(self, host: str, port: int) -> asyncio.Server:
        """Listen; raises `OSError` where the address is taken."""
        return await asyncio.start_server(self._connected, host, port)

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            there, back = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        ways = (
            _pass_on(reader, back, lambda: 0.0),
            _pass_on(there, writer, lambda: self.delay_s),
        )
        tasks = [asyncio.ensure_future(way) for way in ways]
        # An end of one side ends the other: nothing here half-closes.
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in (writer, back):
            each.transport.abort()


async def _pass_on(
    source: asyncio.StreamReader,
    sink: asyncio.StreamWriter,
    delay_s: Callable[[], float],
) -> None:
    """Pass pieces on in order, each after its delay; those behind wait with it."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, data = await pieces.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            sink.write(data)
            await sink.drain()

    delivering = asyncio.ensure_future(deliver())
    try:
        with suppress(OSError):
            while data := await source.read(_PIECE):
                pieces.put_nowait((loop.time() + delay_s(), data))
    finally:
        delivering.cancel()
        with suppress(asyncio.CancelledError, OSError):
            await delivering


async def main(listen: str, target: str) -> None:
    """Serve until standard input ends."""
    host, _, port = listen.rpartition(":")
    proxy = Proxy(target)
    server = await proxy.serve(host, int(port))
    _say('{"event": "ready"}')
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    async with server:
        while line := await lines.readline():
            verb, _, seconds = line.decode().partition(" ")
            if verb == "delay":
                proxy.delay_s = float(seconds)
                _say('{"event": "delay"}')


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
