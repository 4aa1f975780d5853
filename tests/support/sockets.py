"""Speaks to a websocket application in this process, without a server."""

from __future__ import annotations

from typing import Any, Final, cast

import orjson
from asgiref.testing import ApplicationCommunicator

_ANSWER_SECONDS: Final = 60.0


class SocketTalk:
    """One socket of an ASGI application; `extra` goes into its scope."""

    def __init__(
        self,
        application: Any,
        path: str,
        *,
        headers: list[tuple[bytes, bytes]] | None = None,
        **extra: Any,
    ) -> None:
        scope = {"type": "websocket", "path": path, "headers": headers or [], **extra}
        scope.setdefault("query_string", b"")
        scope.setdefault("subprotocols", [])
        talk: Any = ApplicationCommunicator  # asgiref annotates only parts of it
        self._talk = talk(application, scope)

    async def handshake(self) -> dict[str, Any]:
        """Begin to shake hands and return how the application answers."""
        await self._talk.send_input({"type": "websocket.connect"})
        return await self.event()

    async def connect(self) -> bool:
        """Shake hands; False when the application refused."""
        return bool((await self.handshake())["type"] == "websocket.accept")

    async def send_text(self, text: str) -> None:
        await self._talk.send_input({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        await self._talk.send_input({"type": "websocket.receive", "bytes": data})

    async def event(self) -> dict[str, Any]:
        """Return the next thing the application sends, whatever it is."""
        return cast(
            "dict[str, Any]", await self._talk.receive_output(timeout=_ANSWER_SECONDS)
        )

    async def text(self) -> str:
        """Return the text of the next message."""
        event = await self.event()
        assert event["type"] == "websocket.send", event
        return str(event["text"])

    async def say(self, message: object) -> dict[str, Any]:
        """Send one JSON message and return the answer."""
        await self.send_text(orjson.dumps(message).decode())
        return cast("dict[str, Any]", orjson.loads(await self.text()))

    async def disconnect(self) -> None:
        """Hang up and wait for the application to end."""
        await self._talk.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._talk.wait(timeout=_ANSWER_SECONDS)
