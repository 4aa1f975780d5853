"""Which pages may open a socket: our own, and those that may post forms to us.

A browser sends cookies with a socket whichever page opens it, so the page's origin
decides. It is compared as a whole, with scheme, host and port: another port of our host
belongs to another program. Django has the same rule for forms.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.utils.http import is_same_domain

_PORTS: Final = {"http": 80, "https": 443}
_SCHEMES: Final = {"ws": "http", "wss": "https"}

Origin = tuple[str, str, int | None]


class SameOrigin:
    """Wraps the application of sockets; refuses those of pages that are not ours."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Hand the socket on, or deny it with 403."""
        if is_our_page(scope):
            await self._application(scope, receive, send)
        else:
            await WebsocketDenier()(scope, receive, send)


def is_our_page(scope: Any) -> bool:
    """Whether the page that opens a socket is ours, or trusted by the settings.

    False without an origin, too: a browser always names one.
    """
    given = dict(scope["headers"]).get(b"origin", b"").decode("latin-1")
    origin = _origin(given)
    if origin is None:
        return False
    if any(_fits(origin, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS):
        return True
    scheme = _SCHEMES.get(scope.get("scheme", "ws"), "http")
    asked = {**scope, "type": "http", "method": "GET", "scheme": scheme}
    request = ASGIRequest(asked, BytesIO())
    try:
        return origin == _origin(f"{request.scheme}://{request.get_host()}")
    except DisallowedHost:
        return False


def _origin(url: str) -> Origin | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port


def _fits(origin: Origin, trusted: str) -> bool:
    """Whether an origin is one of the settings', which may begin with `*.`."""
    wanted = _origin(trusted.replace("://*.", "://.", 1))
    if wanted is None:
        return False
    same = (origin[0], origin[2]) == (wanted[0], wanted[2])
    return same and is_same_domain(origin[1], wanted[1])
