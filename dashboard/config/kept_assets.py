"""Answers with static files, kept as they were first given.

A page names some 80 scripts and styles. To go through a thread and all middleware for
each took longer than all that the page itself needs, and the answer is the same for
everybody: the address has a digest of the contents in it (`assets_digest`).
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeAlias, cast

from asgiref.typing import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPScope,
    Scope,
)
from django.conf import settings

from .compression import ACCEPTS

_NEVER: Final = frozenset(
    {
        *(b"content-length", b"transfer-encoding", b"range", b"if-range"),
        *(b"if-match", b"if-none-match", b"if-modified-since", b"if-unmodified-since"),
    }
)
"""With one of these, the answer is not the whole file, or there is a body to read."""

_Key: TypeAlias = tuple[str, str, bool, bool]
"""All that an answer with a whole file depends on: few values, whoever asks."""


@dataclass(slots=True)
class _Answer:
    """What an application has sent."""

    start: Any = None
    body: bytes = b""
    parts: int = 0

    def take(self, event: Any) -> None:
        if event["type"] == "http.response.start":
            self.start = event
        else:
            self.body, self.parts = event.get("body", b""), self.parts + 1

    @property
    def can_be_kept(self) -> bool:
        """True for a whole file that was sent at once, and is the same for everybody.

        Django sends what is larger than 64 kB in parts.
        """
        return (
            self.start is not None
            and self.start["status"] == HTTPStatus.OK
            and self.parts == 1
            and all(name.lower() != b"set-cookie" for name, _ in self.start["headers"])
        )


class KeptAssets:
    """Answers for static files below an address; everything else is passed on."""

    def __init__(self, application: ASGI3Application, prefix: str) -> None:
        self._application = application
        self._prefix = prefix
        self._kept: dict[_Key, _Answer] = {}

    async def __call__(
        self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        key = self._key_of(scope) if scope["type"] == "http" else None
        if key is None:
            await self._application(scope, receive, send)
            return
        kept = self._kept.get(key)
        if kept is None:
            await self._ask(key, scope, receive, send)
            return
        await send(kept.start)
        await send(
            {"type": "http.response.body", "body": kept.body, "more_body": False}
        )

    async def _ask(
        self,
        key: _Key,
        scope: Scope,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        answer = _Answer()

        async def hear(event: Any) -> None:
            answer.take(event)
            await send(event)

        await self._application(scope, receive, hear)
        if answer.can_be_kept:
            self._kept[key] = answer

    def _key_of(self, scope: HTTPScope) -> _Key | None:
        """Return what the answer depends on, None if it is not to be kept."""
        if scope["method"] != "GET" or not scope["path"].startswith(self._prefix):
            return None
        headers = list(scope["headers"])
        given = dict(headers)
        # Django joins the values of a header that was sent twice.
        if len(given) < len(headers) or not _NEVER.isdisjoint(given):
            return None
        encodings = given.get(b"accept-encoding", b"").decode("latin-1")
        # As `HttpRequest.is_secure` reads it, where the settings have it read.
        outer = given.get(b"x-forwarded-proto", b"").partition(b",")[0].strip()
        packed = ACCEPTS.search(encodings) is not None
        return scope["path"], scope["scheme"], packed, outer == b"https"


def keep_assets(application: ASGI3Application) -> ASGI3Application:
    """Keep answers with static files, unless these may change meanwhile."""
    if settings.DEBUG:
        return application
    return cast("ASGI3Application", KeptAssets(application, settings.STATIC_URL))
