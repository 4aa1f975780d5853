"""One connection's state, without the connection: bytes in, events out.

Theory. A connection carries two independent conversations: our requests with the
peer's responses, and the peer's requests with our responses. This class numbers our
requests, remembers which are open, and pairs each response with its request. It does
not know sockets, and it does not wait: the driver owns time, and says with `forget`
that an answer is no longer wanted.

Events, in the order of the bytes:
    RequestReceived    the peer asks; answer it unless it is one-way
    ResponseReceived   the answer to a request of ours that is still open
    LateResponse       an answer that is no longer awaited: count it, drop it

Cost: one dictionary entry per open request.
"""

from __future__ import annotations

from typing import Final

import msgspec

from rmqcore.errors import LocalProtocolError

from .command import FLAG_RESPONSE, RemotingCommand
from .frames import MAX_FRAME_BYTES, FrameDecoder, encode_frame

_OPAQUE_LIMIT: Final = 0x7FFFFFFF


class RequestReceived(msgspec.Struct, gc=False):
    """The peer asks something of us."""

    command: RemotingCommand


class ResponseReceived(msgspec.Struct, gc=False):
    """The answer to our open request with number `command.opaque`."""

    command: RemotingCommand
    request_code: int


class LateResponse(msgspec.Struct, gc=False):
    """An answer whose request was forgotten, or never made."""

    command: RemotingCommand


Event = RequestReceived | ResponseReceived | LateResponse


class Connection:
    """Numbers, frames and pairs the commands of one connection. Not thread-safe."""

    __slots__ = ("_decoder", "_max_frame_bytes", "_opaque", "_open")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._decoder = FrameDecoder(max_frame_bytes)
        self._max_frame_bytes = max_frame_bytes
        self._opaque = 0
        self._open: dict[int, int] = {}

    @property
    def broken(self) -> bool:
        """True once unreadable bytes were received; close the connection."""
        return self._decoder.broken

    @property
    def open_requests(self) -> int:
        """How many of our requests wait for an answer."""
        return len(self._open)

    def send_request(self, command: RemotingCommand) -> bytes:
        """Number a request and return its frame; it is open unless one-way.

        The number is written into `command.opaque`. Raises `LocalProtocolError`
        when it cannot be framed, in which case nothing is remembered.
        """
        if command.flag & FLAG_RESPONSE:
            raise LocalProtocolError(f"command {command.code} is a response")
        command.opaque = self._next_opaque()
        frame = encode_frame(command, max_frame_bytes=self._max_frame_bytes)
        if not command.is_oneway:
            self._open[command.opaque] = command.code
        return frame

    def send_response(self, command: RemotingCommand) -> bytes:
        """Return the frame of an answer made by `RemotingCommand.response`."""
        if not command.flag & FLAG_RESPONSE:
            raise LocalProtocolError(f"command {command.code} is not a response")
        return encode_frame(command, max_frame_bytes=self._max_frame_bytes)

    def forget(self, opaque: int) -> None:
        """Stop waiting for an answer; if it comes it is a `LateResponse`."""
        self._open.pop(opaque, None)

    def receive_data(self, data: bytes) -> list[Event]:
        """Take received bytes and return the events that they complete.

        Raises `FrameError` or `HeaderError`; the connection is then useless and
        must be closed. Events of the same bytes that came before the error are
        returned first, and the error is raised by the next call.
        """
        self._decoder.receive_data(data)
        events: list[Event] = []
        while True:
            try:
                command = self._decoder.next_command()
            except Exception:
                if events:
                    return events
                raise
            if command is None:
                return events
            events.append(self._event(command))

    def _event(self, command: RemotingCommand) -> Event:
        if not command.flag & FLAG_RESPONSE:
            return RequestReceived(command)
        request_code = self._open.pop(command.opaque, None)
        if request_code is None:
            return LateResponse(command)
        return ResponseReceived(command, request_code)

    def _next_opaque(self) -> int:
        while True:
            self._opaque = self._opaque + 1 if self._opaque < _OPAQUE_LIMIT else 0
            if self._opaque not in self._open:
                return self._opaque
