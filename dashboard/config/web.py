"""The web server: `python -m dashboard.config.web [--host HOST] [--port PORT]`.

Uvicorn with the bounds that pages near production need, in one place for the launcher,
systemd units and tests. Run as many as are needed behind a proxy that balances.
"""

from __future__ import annotations

import argparse
import os
from typing import Any, Final

import uvicorn

from dashboard.live.messages import MAX_MESSAGE_CHARS

from .limits import GuardedProtocol
from .web_sockets import GuardedSocketProtocol

MOST_FRAME_BYTES: Final = 4 * MAX_MESSAGE_CHARS
"""A character takes four bytes at most; a larger frame is refused by its head."""
IDLE_SECONDS: Final = 5
"""How long a connection without a request is kept."""


def server_settings(host: str, port: int, proxies: list[str]) -> dict[str, Any]:
    """Return what uvicorn is started with, everywhere.

    `proxies` are the addresses and networks whose `X-Forwarded-For` and
    `X-Forwarded-Proto` are believed; without any, nobody's are.
    """
    return {
        "host": host,
        "port": port,
        "http": GuardedProtocol,
        "timeout_keep_alive": IDLE_SECONDS,
        "timeout_graceful_shutdown": 3,
        "ws": GuardedSocketProtocol,
        "ws_max_size": MOST_FRAME_BYTES,
        "ws_per_message_deflate": False,
        "proxy_headers": bool(proxies),
        "forwarded_allow_ips": proxies,
        "access_log": False,
        "server_header": False,
    }


def main() -> None:
    """Serve until told to stop."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    from django.conf import settings

    host, port = settings.ROCKETSCOPE_LISTEN
    parser = argparse.ArgumentParser(prog="dashboard.config.web")
    parser.add_argument("--host", default=host)
    parser.add_argument("--port", type=int, default=port)
    given = parser.parse_args()
    uvicorn.run(
        "dashboard.config.asgi:application",
        **server_settings(given.host, given.port, settings.ROCKETSCOPE_TRUSTED_PROXIES),
    )


if __name__ == "__main__":
    main()
