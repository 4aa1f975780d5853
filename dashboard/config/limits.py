"""Bounds on what a connection may send and how slowly, before anybody signs in.

`GuardedProtocol` bounds the head of a request, in bytes and in seconds, and closes a
connection that sends no request. It refuses headers after a body: no client of ours
sends any, a proxy may not have looked at them, and the server would treat them like
those of the head. `BodyLimit` bounds the body: it refuses one that is announced as too
large without reading any of it, and counts one whose length is not announced. Nothing
that is refused reaches memory or disk as a whole.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import orjson
from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    HTTPDisconnectEvent,
    HTTPScope,
    Scope,
)
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dashboard.accounts.proxy import PEER
from dashboard.wording.links import API_PREFIX

MOST_HEAD_BYTES: Final = 64 * 1024
HEAD_SECONDS: Final = 20.0
MOST_BODY_BYTES: Final = 1024 * 1024
"""The largest form, a scenario of 200 members, takes some 100 KB."""
_TOO_LARGE: Final = f"a body has {MOST_BODY_BYTES} bytes at most"
BODY_SECONDS: Final = 30.0
"""For a whole body, which is short: nobody's connection needs longer."""


class GuardedProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with a limit of bytes and seconds for a request's head."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_is_over = False

    def connection_made(  # type: ignore[override]
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        if self.client is not None:
            # Before a forwarded address takes its place; sockets get the same state.
            self.app_state = {**self.app_state, PEER: self.client[0]}
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._head_timer is None and self._is_between_requests():
            self._await_head()
        if self._head_timer is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > MOST_HEAD_BYTES:
            self._refuse(
                431, f"the head of a request has {MOST_HEAD_BYTES} bytes at most"
            )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_is_over = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head_is_over:
            self._refuse(400, "a request has no headers behind its body")
        else:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._head_is_over = True
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _is_between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = asyncio.get_running_loop().call_later(
            HEAD_SECONDS, self._give_up
        )

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._refuse(408, f"no request within {HEAD_SECONDS:.0f} seconds")

    def _refuse(self, status: int, reason: str) -> None:
        self._stop_timer()
        if self.transport.is_closing():
            return
        self.transport.write(
            f"HTTP/1.1 {status} Refused\r\ncontent-type: text/plain\r\n"
            f"content-length: {len(reason) + 1}\r\nconnection: close\r\n\r\n"
            f"{reason}\n".encode("ascii")
        )
        self.transport.close()


class BodyLimit:
    """Refuse bodies that are too large or too slow before the application sees them."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        json = scope["path"].startswith(API_PREFIX)
        if _announced(scope) > MOST_BODY_BYTES:
            await _answer(send, 413, _TOO_LARGE, json=json)
            return
        body = _Body(receive, send, json=json)
        await self._application(scope, body.receive, body.send)


class _Body:
    """One request's body as it is read; after our own answer no other is sent."""

    def __init__(
        self, receive: ASGIReceiveCallable, send: ASGISendCallable, *, json: bool
    ) -> None:
        self._receive = receive
        self._json = json
        self._send = send
        self._bytes = 0
        self._is_whole = False
        self._is_refused = False
        self._deadline = asyncio.get_running_loop().time() + BODY_SECONDS

    async def receive(self) -> ASGIReceiveEvent:
        """Pass one event on, or tell the application that the client is gone."""
        if self._is_whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                event = await self._receive()
        except TimeoutError:
            return await self._refuse(
                408, f"the body did not come within {BODY_SECONDS:.0f} seconds"
            )
        if event["type"] == "http.request":
            self._bytes += len(event.get("body", b""))
            self._is_whole = not event.get("more_body", False)
        if self._bytes > MOST_BODY_BYTES:
            return await self._refuse(413, _TOO_LARGE)
        return event

    async def send(self, event: Any) -> None:
        """Pass the application's answer on unless the request was refused."""
        if not self._is_refused:
            await self._send(event)

    async def _refuse(self, status: int, reason: str) -> HTTPDisconnectEvent:
        self._is_refused = True
        await _answer(self._send, status, reason, json=self._json)
        return {"type": "http.disconnect"}


def _announced(scope: HTTPScope) -> int:
    """Return the length in the head; uvicorn refuses one that is not a number."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0


async def _answer(
    send: ASGISendCallable, status: int, reason: str, *, json: bool
) -> None:
    body = orjson.dumps({"detail": reason}) if json else f"{reason}\n".encode()
    media_type = b"application/json" if json else b"text/plain"
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", media_type),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ],
            "trailers": False,
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})
