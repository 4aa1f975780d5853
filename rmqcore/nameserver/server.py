"""The name server: state behind a listening socket, and one timer."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import (
    Channel,
    Clock,
    Server,
    ServerTls,
    SystemClock,
    TlsMode,
)

from .processors import HANDLERS, NameServerState
from .settings_table import SettingsTable

logger = logging.getLogger(__name__)

_SCAN_S: Final = 5.0


class NameServer:
    """Answers requests for routes. Not reusable after `stop`.

    Routes are learned from brokers; only settings are kept, in `store` if given.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock | None = None,
        store: Path | None = None,
        tls: ServerTls | None = None,
    ) -> None:
        path = None if store is None else store / "kvConfig.json"
        self.state = NameServerState(
            clock or SystemClock(), settings=SettingsTable(path)
        )
        self._server = Server(
            self.handle,
            host=host,
            port=port,
            tls=None if tls is None else tls.server_context(),
            tls_mode=TlsMode.PERMISSIVE if tls is None else tls.mode,
            on_close=self._channel_closed,
        )
        self._scanning: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """`host:port` as bound; raises `StateError` before `start`."""
        return self._server.address

    async def start(self) -> None:
        """Bind and answer; raise `ConnectError` when the address cannot be bound."""
        await self._server.start()
        self.state.address = self._server.address
        self._scanning = asyncio.get_running_loop().create_task(self._scan())

    async def stop(self) -> None:
        """Close every connection and the socket."""
        if self._scanning is not None:
            self._scanning.cancel()
            await asyncio.gather(self._scanning, return_exceptions=True)
        await self._server.stop()

    def handle(self, channel: Channel, command: RemotingCommand) -> RemotingCommand:
        """Answer one request."""
        handler = HANDLERS.get(command.code)
        if handler is None:
            return command.response(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f" request type {command.code} not supported",
            )
        return handler(self.state, channel, command)

    def _channel_closed(self, channel: Channel) -> None:
        for identity in self.state.routes.channel_closed(channel):
            logger.info("broker=%s connection lost", identity.address)

    async def _scan(self) -> None:
        clock = self.state.clock
        while True:
            await clock.sleep(_SCAN_S)
            for identity in self.state.routes.expire(clock.time_ms()):
                logger.warning("broker=%s silent for too long", identity.address)
