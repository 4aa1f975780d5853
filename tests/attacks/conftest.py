"""The fixtures of the dashboard's own tests, and our pages behind the real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn

from dashboard.config.asgi import application
from dashboard.config.web import server_settings
from tests.dashboard.conftest import (
    files_are_made_here,
    hangzhou,
    nobody_there,
    sign_in,
    write,
)
from tests.support.valkey import valkey, valkey_server

__all__ = [
    "files_are_made_here",
    "hangzhou",
    "nobody_there",
    "sign_in",
    "valkey",
    "valkey_server",
    "write",
]


@asynccontextmanager
async def served(proxies: list[str]) -> AsyncIterator[int]:
    """Serve our pages as the launcher does, and give the port."""
    settings = server_settings("127.0.0.1", 0, proxies)
    settings["timeout_graceful_shutdown"] = 1
    server = uvicorn.Server(
        uvicorn.Config(application, **settings, lifespan="off", log_config=None)
    )
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """Our pages as they are without a proxy."""
    async with served([]) as port:
        yield port


@pytest.fixture
async def port_behind_a_proxy() -> AsyncIterator[int]:
    """Our pages where whoever asks is a trusted proxy."""
    async with served(["127.0.0.0/8"]) as port:
        yield port
