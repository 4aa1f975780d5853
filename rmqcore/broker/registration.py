"""Keeping the name servers informed: who this broker is and which topics it has.

Every name server is told at start, every 30 s, and soon after a topic changed; changes
of the same moment are sent together. A name server that cannot be reached is told at
the next turn, and does not delay the others.

A name server keeps the topics that a registration lacks, so a table that arrives after
a topic was deleted there would bring it back. Each name server is therefore sent the
table as it is at the moment of sending, over one connection, and a deletion is answered
only when they have accepted a table without the topic.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, TypeAlias

from rmqcore.errors import RmqError
from rmqcore.protocol.bodies import (
    RegisterBrokerBody,
    TopicConfigTable,
    body_crc32,
    encode_register_broker,
)
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    RegisterBrokerRequestHeader,
    UnregisterBrokerRequestHeader,
    encode_header,
)
from rmqcore.transport import ChannelPool, raise_for_code

from .settings import BrokerSettings
from .topics import TopicTable

logger = logging.getLogger(__name__)

_Request: TypeAlias = tuple[dict[str, str], bytes]

_TIMEOUT_S: Final = 6.0
_GOODBYE_TIMEOUT_S: Final = 1.0


class Registration:
    """Tells name servers about one broker."""

    def __init__(
        self, settings: BrokerSettings, topics: TopicTable, pool: ChannelPool
    ) -> None:
        self.address = ""
        """The address at which clients reach the broker; set once it is bound."""
        self._settings = settings
        self._topics = topics
        self._pool = pool
        self._wanted = asyncio.Event()

    def soon(self) -> None:
        """Tell the name servers at the next turn of the loop."""
        self._wanted.set()

    async def run(self) -> None:
        """Register whenever `soon` was called, until cancelled."""
        while True:
            await self._wanted.wait()
            await self.register()

    async def register(self) -> int:
        """Tell every name server now; return how many accepted it."""
        self._wanted.clear()
        code = RequestCode.REGISTER_BROKER
        return await self._tell_all(code, self._registering, timeout=_TIMEOUT_S)

    async def unregister(self) -> None:
        """Tell every name server that the broker leaves."""
        code = RequestCode.UNREGISTER_BROKER
        await self._tell_all(code, self._leaving, timeout=_GOODBYE_TIMEOUT_S)

    # Private, in order of first use

    async def _tell_all(
        self, code: RequestCode, make: Callable[[], _Request], *, timeout: float
    ) -> int:
        told = await asyncio.gather(
            *(
                self._tell(address, code, make, timeout)
                for address in self._settings.name_servers
            )
        )
        return sum(told)

    async def _tell(
        self,
        address: str,
        code: RequestCode,
        make: Callable[[], _Request],
        timeout: float,
    ) -> bool:
        try:
            channel = await self._pool.channel(address)
            command = RemotingCommand.request(code, *make())
            response = await self._pool.send_nowait(channel, address, command, timeout)
            raise_for_code(response, request_code=code, address=address)
        except RmqError as error:
            logger.warning(
                "broker=%s nameserver=%s request %s failed: %s",
                self._settings.name,
                address,
                code,
                error,
            )
            return False
        return True

    def _registering(self) -> _Request:
        settings = self._settings
        table = TopicConfigTable(self._topics.all, self._topics.version)
        body = encode_register_broker(RegisterBrokerBody(table))
        header = RegisterBrokerRequestHeader(
            broker_name=settings.name,
            broker_addr=self.address,
            cluster_name=settings.cluster,
            ha_server_addr="",
            broker_id=settings.broker_id,
            enable_acting_master=False,
            compressed=False,
            body_crc32=body_crc32(body),
        )
        return encode_header(header), body

    def _leaving(self) -> _Request:
        settings = self._settings
        header = UnregisterBrokerRequestHeader(
            broker_name=settings.name,
            broker_addr=self.address,
            cluster_name=settings.cluster,
            broker_id=settings.broker_id,
        )
        return encode_header(header), b""
