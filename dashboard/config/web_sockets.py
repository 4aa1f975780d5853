"""Bounds on what an open socket may send, before any of it reaches a message.

The server bounds a message by its bytes alone. Fragments without content have no bytes,
but are kept in a list until the last one comes; pings are not messages, and each is
answered at once, whether or not anybody reads the answers.
"""

from __future__ import annotations

from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import (
    WebSocketsSansIOProtocol,
)

MOST_PIECES: Final = 64
"""Of one message; browsers send a message of this size in one piece."""
_TOO_BIG: Final = 1009


class GuardedSocketProtocol(WebSocketsSansIOProtocol):
    """Uvicorn's protocol with a limit on fragments and without unread answers."""

    def handle_cont(self, event: Any) -> None:
        if self.close_sent:
            return
        if len(self.frames) < MOST_PIECES:
            super().handle_cont(event)
            return
        reason = f"a message has {MOST_PIECES} pieces at most"
        self.conn.send_close(_TOO_BIG, reason)
        self.handle_parser_exception()

    def handle_ping(self) -> None:
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()
