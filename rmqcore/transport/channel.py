"""A channel: one TCP (or TLS) connection with its open requests.

Theory. The protocol callbacks of asyncio feed `protocol.connection` and complete one
future per open request. Frames written in the same turn of the loop leave in one
system call. Requests of the peer go to the handler, which answers at once (returns a
command), later (returns an awaitable) or not at all (returns None).

Invariants: every request future ends, with a response, `RequestTimeoutError` or
`ChannelClosedError`; a one-way request is never answered, whatever the handler does;
bytes that cannot be read close the channel, with the reason in the log and in the error
of each waiting caller.

Cost: one future and one entry of a heap per request, one timer per channel, one system
call per turn of the loop.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, cast

from rmqcore.errors import (
    ChannelClosedError,
    ConnectError,
    LocalProtocolError,
    RemoteProtocolError,
    RequestTimeoutError,
    RmqError,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.connection import (
    Connection,
    LateResponse,
    RequestReceived,
    ResponseReceived,
)
from rmqcore.protocol.frames import MAX_FRAME_BYTES

from .address import format_address, parse_address
from .client_tls import tls_problem

logger = logging.getLogger(__name__)

Answer = RemotingCommand | None
Handler = Callable[["Channel", RemotingCommand], Answer | Awaitable[Answer]]
"""Answers a peer's request: with a command, an awaitable of one, or None."""

DEFAULT_TIMEOUT_S = 3.0
"""RocketMQ's default for API calls and for connecting."""

MOST_UNREAD_BYTES = 64 * 1024 * 1024
"""Beyond it, a client drops its answers to a peer that asks and does not read."""

TLS_GOODBYE_S = 1.0
"""How long a closed TLS connection waits for the peer's goodbye: Java sends none."""


async def refuse(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    """Answer any request as a peer that serves nothing."""
    return command.response(
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        f" request type {command.code} not supported",
    )


class Channel(asyncio.Protocol):
    """One connection to a peer. Belongs to the event loop that made it."""

    def __init__(
        self,
        handler: Handler | None = None,
        *,
        on_open: Callable[[Channel], None] | None = None,
        on_close: Callable[[Channel], None] | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
        waits_for_reader: bool = False,
    ) -> None:
        self.remote_address = ""
        self.local_address = ""
        self.attributes: dict[str, Any] = {}
        self._handler = handler or refuse
        self._on_open = on_open
        self._on_close = on_close
        self._loop = asyncio.get_running_loop()
        self._connection = Connection(max_frame_bytes)
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[int, asyncio.Future[RemotingCommand]] = {}
        # Deadlines of requests, including answered ones until they are due: one timer
        # for the earliest costs far less than one for each request.
        self._deadlines: list[tuple[float, int, int, float]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._outgoing: list[bytes] = []
        self._is_receiving = False
        self._waits_for_reader = waits_for_reader
        self._writable = asyncio.Event()
        self._writable.set()
        self._closed = self._loop.create_future()
        self._reason: Exception | None = None
        self._answering: set[asyncio.Task[None]] = set()

    @property
    def closed(self) -> bool:
        """Whether the connection has ended, whichever side ended it."""
        return self._transport is None or self._transport.is_closing()

    @property
    def open_requests(self) -> int:
        """How many of our requests wait for an answer."""
        return len(self._waiting)

    # Requests of ours

    async def request(
        self, command: RemotingCommand, timeout: float = DEFAULT_TIMEOUT_S
    ) -> RemotingCommand:
        """Send a request and return its response, whatever its code.

        Raises `RequestTimeoutError` after `timeout` seconds, `ChannelClosedError` when
        the connection ends first, and `LocalProtocolError` when it cannot be framed.
        """
        return await self.send_request_nowait(command, timeout)

    def send_request_nowait(
        self, command: RemotingCommand, timeout: float = DEFAULT_TIMEOUT_S
    ) -> asyncio.Future[RemotingCommand]:
        """Send a request and return the future of its response, for pipelining."""
        self._ensure_open()
        frame = self._connection.send_request(command)
        future: asyncio.Future[RemotingCommand] = self._loop.create_future()
        self._waiting[command.opaque] = future
        self._set_deadline(command, timeout)
        self._write(frame)
        return future

    def send_oneway(self, command: RemotingCommand) -> None:
        """Send a request that is never answered; `ChannelClosedError` if closed."""
        self._ensure_open()
        self._write(self._connection.send_request(command))

    def send_response(self, command: RemotingCommand) -> None:
        """Send an answer made by `RemotingCommand.response`.

        It is dropped when the channel is closed, or when the peer reads none of them.
        """
        if self.closed or self._is_unread():
            return
        try:
            frame = self._connection.send_response(command)
        except LocalProtocolError as error:
            logger.warning("peer=%s answer dropped: %s", self.remote_address, error)
            command.body, command.ext_fields = b"", {}
            command.code, command.remark = ResponseCode.SYSTEM_ERROR, str(error)
            frame = self._connection.send_response(command)
        self._write(frame)

    async def drain(self) -> None:
        """Wait until the socket accepts more; call it when writing without answers."""
        await self._writable.wait()

    async def close(self) -> None:
        """Close the connection and wait until it has ended. May be called twice."""
        self.abort_waiting(ChannelClosedError(f"{self.remote_address}: closed by us"))
        if self._transport is not None:
            self._flush()
            self._transport.close()
            await asyncio.shield(self._closed)

    async def wait_closed(self) -> None:
        """Return when the connection has ended."""
        await asyncio.shield(self._closed)

    def abort_waiting(self, error: Exception) -> None:
        """End every open request with `error`."""
        waiting, self._waiting = self._waiting, {}
        self._deadlines.clear()
        self._stop_timer()
        for opaque, future in waiting.items():
            self._connection.forget(opaque)
            if not future.done():
                future.set_exception(error)
                # Read it, or the loop complains when the caller has given up.
                future.exception()

    # Callbacks of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember both ends; the server's `on_open` runs here."""
        self._transport = cast(asyncio.Transport, transport)
        self.remote_address = _address(transport.get_extra_info("peername"))
        self.local_address = _address(transport.get_extra_info("sockname"))
        if self._on_open is not None:
            self._on_open(self)

    def data_received(self, data: bytes) -> None:
        """Complete open requests and hand the peer's requests to the handler."""
        # Answers that are known at once are sent together, at the end of this turn.
        self._is_receiving = True
        try:
            events = self._connection.receive_data(data)
            for event in events:
                if isinstance(event, RequestReceived):
                    self._answer(event.command)
                elif isinstance(event, ResponseReceived):
                    self._complete(event.command)
                else:
                    self._drop_late(event)
            if self._connection.broken:
                self._connection.receive_data(b"")
        except RemoteProtocolError as error:
            self._fail(error)
        finally:
            self._is_receiving = False
            if self._outgoing:
                self._flush()

    def pause_writing(self) -> None:
        """The socket's buffer is full: a server reads no more requests meanwhile.

        A peer that sends requests and does not read the answers would fill the memory.
        A client goes on reading, or two full buffers would wait for each other.
        """
        self._writable.clear()
        if self._waits_for_reader and not self.closed:
            cast(asyncio.Transport, self._transport).pause_reading()

    def resume_writing(self) -> None:
        """The socket's buffer has room again."""
        self._writable.set()
        if self._waits_for_reader and not self.closed:
            cast(asyncio.Transport, self._transport).resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting requests, and tell the owner once."""
        reason = self._reason or (exc and tls_problem(exc))
        self._writable.set()
        self.abort_waiting(
            ChannelClosedError(
                f"{self.remote_address}: {reason or 'closed by the peer'}"
            )
        )
        for task in self._answering:
            task.cancel()
        if not self._closed.done():
            self._closed.set_result(None)
        if self._on_close is not None:
            self._on_close(self)

    # Private, in order of first use

    def _ensure_open(self) -> None:
        if self.closed:
            raise ChannelClosedError(f"{self.remote_address}: the channel is closed")

    def _is_unread(self) -> bool:
        """Tell whether a client's peer keeps asking and reads nothing."""
        if self._waits_for_reader:  # a server reads no more from such a peer
            return False
        transport = cast(asyncio.Transport, self._transport)
        return transport.get_write_buffer_size() > MOST_UNREAD_BYTES

    def _write(self, frame: bytes) -> None:
        if not self._outgoing and not self._is_receiving:
            self._loop.call_soon(self._flush)
        self._outgoing.append(frame)

    def _flush(self) -> None:
        frames, self._outgoing = self._outgoing, []
        if frames and self._transport is not None and not self._transport.is_closing():
            if len(frames) == 1:
                self._transport.write(frames[0])
            else:
                self._transport.writelines(frames)

    def _set_deadline(self, command: RemotingCommand, timeout: float) -> None:
        due = self._loop.time() + timeout
        entry = (due, command.opaque, command.code, timeout)
        heapq.heappush(self._deadlines, entry)
        if self._deadlines[0] is entry:
            self._stop_timer()
            self._timer = self._loop.call_at(due, self._time_out)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        """End the requests that are due; wait for the next one still open."""
        now = self._loop.time()
        deadlines = self._deadlines
        if not self._waiting:
            deadlines.clear()  # of thousands that were answered
        while deadlines and (
            deadlines[0][0] <= now or deadlines[0][1] not in self._waiting
        ):
            _, opaque, code, timeout = heapq.heappop(deadlines)
            self._end_late(opaque, code, timeout)
        self._timer = (
            self._loop.call_at(deadlines[0][0], self._time_out) if deadlines else None
        )

    def _end_late(self, opaque: int, code: int, timeout: float) -> None:
        future = self._waiting.pop(opaque, None)
        if future is None:
            return
        self._connection.forget(opaque)
        if not future.done():
            future.set_exception(
                RequestTimeoutError(
                    f"{self.remote_address} did not answer request {code} "
                    f"within {timeout:g} s"
                )
            )

    def _complete(self, command: RemotingCommand) -> None:
        future = self._waiting.pop(command.opaque)
        if not future.done():
            future.set_result(command)

    def _drop_late(self, event: LateResponse) -> None:
        logger.debug(
            "peer=%s opaque=%s late answer dropped",
            self.remote_address,
            event.command.opaque,
        )

    def _answer(self, command: RemotingCommand) -> None:
        try:
            answer = self._handler(self, command)
        except Exception as error:
            self._send_answer(command, self._error_answer(command, error))
            return
        if answer is None or isinstance(answer, RemotingCommand):
            self._send_answer(command, answer)
            return
        task = self._loop.create_task(self._answer_later(command, answer))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def _answer_later(
        self, command: RemotingCommand, awaitable: Awaitable[Answer]
    ) -> None:
        try:
            answer = await awaitable
        except Exception as error:
            answer = self._error_answer(command, error)
        self._send_answer(command, answer)

    def _error_answer(
        self, command: RemotingCommand, error: Exception
    ) -> RemotingCommand:
        if isinstance(error, RmqError):
            logger.info(
                "peer=%s code=%s refused: %s", self.remote_address, command.code, error
            )
        else:
            logger.error(
                "peer=%s code=%s handler failed",
                self.remote_address,
                command.code,
                exc_info=error,
            )
        return command.response(
            ResponseCode.SYSTEM_ERROR, f"{type(error).__name__}: {error}"
        )

    def _send_answer(self, command: RemotingCommand, answer: Answer) -> None:
        if answer is not None and not command.is_oneway:
            self.send_response(answer)

    def _fail(self, error: RemoteProtocolError) -> None:
        logger.warning("peer=%s closed: %s", self.remote_address, error)
        self._reason = error
        if self._transport is not None:
            self._transport.abort()


async def connect(
    address: str,
    *,
    handler: Handler | None = None,
    tls: ssl.SSLContext | None = None,
    timeout: float = DEFAULT_TIMEOUT_S,
    on_close: Callable[[Channel], None] | None = None,
) -> Channel:
    """Open a channel to `host:port`.

    Raises `ConnectError`, naming address and reason, and `ArgumentError` for a
    malformed address.
    """
    host, port = parse_address(address)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(timeout):
            _, channel = await loop.create_connection(
                lambda: Channel(handler, on_close=on_close),
                host,
                port,
                ssl=tls,
                server_hostname=host if tls else None,
                ssl_shutdown_timeout=TLS_GOODBYE_S if tls else None,
            )
    except TimeoutError:
        raise ConnectError(f"{address}: no connection within {timeout:g} s") from None
    except OSError as error:
        what = tls_problem(error)
        if tls is not None and isinstance(error, ConnectionResetError):
            what = "the server ended the TLS handshake without saying why"
        raise ConnectError(f"{address}: {what}") from error
    # Routes and logs name peers by the address that was asked for.
    channel.remote_address = address
    return channel


def _address(name: tuple[Any, ...] | str | None) -> str:
    return format_address(name[0], name[1]) if isinstance(name, tuple) else str(name)
