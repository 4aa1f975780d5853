"""The one entry of every web process: pages over http, live updates over websocket.

A socket is refused when the page that opens it is of another origin, and knows its user
by the session cookie.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

if TYPE_CHECKING:
    from asgiref.typing import ASGI3Application

from dashboard.config.handler import page_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
pages = page_application()

from dashboard.config.kept_assets import keep_assets  # noqa: E402
from dashboard.config.limits import BodyLimit  # noqa: E402
from dashboard.config.origins import SameOrigin  # noqa: E402
from dashboard.live.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": keep_assets(BodyLimit(cast("ASGI3Application", pages))),
        "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
    }
)
