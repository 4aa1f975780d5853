"""A whole cluster in one process and one event loop: a name server and brokers.

It is for trying, testing and teaching. Every part is the real one, on loopback sockets
of its own; a broker can be stopped or killed, and started again over the same store.

    async with LocalCluster(brokers=2) as cluster:
        await cluster.create_topic("orders", queues=8)
        producer = Producer(name_servers=[cluster.nameserver_address], ...)
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.errors import ArgumentError, ConnectError, StateError
from rmqcore.model.topic import TopicConfig
from rmqcore.nameserver import NameServer
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import CreateTopicRequestHeader, encode_header
from rmqcore.transport import (
    Clock,
    ServerTls,
    connect,
    parse_address,
    raise_for_code,
)

logger = logging.getLogger(__name__)

CLUSTER_NAME: Final = "LocalCluster"
SEGMENT_BYTES: Final = 16 * 1024 * 1024
_PORT_FILE: Final = "port"
_MOST_PORT: Final = 65_535


class LocalCluster:
    """A name server and brokers `broker-a`, `broker-b`, … on free or given ports.

    Without a `store` directory a temporary one is used and removed at the end. Brokers
    of a given `store` come back on the ports that they had, as long as nobody else uses
    them: clients learn of a new address only when they next refresh their routes.
    `tls` and `users` guard every part; `settings` are further `BrokerSettings`, the
    same for every broker.
    """

    def __init__(
        self,
        *,
        brokers: int = 1,
        store: Path | None = None,
        nameserver_port: int = 0,
        host: str = "127.0.0.1",
        clock: Clock | None = None,
        tls: ServerTls | None = None,
        users: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        if not 1 <= brokers <= 26:
            raise ArgumentError(f"{brokers} brokers, allowed 1 to 26")
        self._clock = clock
        self._host = host
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._store = store
        self._count = brokers
        self._settings: dict[str, Any] = {
            "cluster": CLUSTER_NAME,
            "segment_bytes": SEGMENT_BYTES,
            "tls": tls,
            "users": users or {},
            **settings,
        }
        self.nameserver = NameServer(
            host=host,
            port=nameserver_port,
            clock=clock,
            store=None if store is None else store / "nameserver",
            tls=tls,
        )
        self.brokers: dict[str, Broker] = {}
        self._tls = None if tls is None else tls.client_context()
        self._credentials = [AclCredentials(*user) for user in (users or {}).items()]

    async def __aenter__(self) -> LocalCluster:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def nameserver_address(self) -> str:
        """`host:port` of the name server."""
        return self.nameserver.address

    @property
    def broker_addresses(self) -> dict[str, str]:
        """`host:port` of each running broker by name."""
        return {name: broker.address for name, broker in self.brokers.items()}

    # Life cycle

    async def start(self) -> None:
        """Start the name server and the brokers; on failure nothing is left running."""
        if self._store is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="rmqcore-")
        try:
            await self.nameserver.start()
            for number in range(self._count):
                await self.start_broker(f"broker-{chr(ord('a') + number)}")
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop everything that runs, and remove temporary files."""
        for name in list(self.brokers):
            await self.stop_broker(name)
        await self.nameserver.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

    async def start_broker(self, name: str, *, port: int = 0) -> Broker:
        """Start a broker, over the store it had if it ran before.

        Port 0 is the one that it last had there, else a free one. Raises `StateError`
        when it runs, and what `Broker.start` raises.
        """
        if name in self.brokers:
            raise StateError(f"broker {name} is running already")
        kept = 0 if port or self._store is None else _kept_port(self._store / name)
        try:
            broker = await self._started(name, port or kept)
        except ConnectError as error:
            if not kept:
                raise
            logger.warning("broker=%s takes a free port: %s", name, error)
            broker = await self._started(name, 0)
        if self._store is not None:
            _keep_port(self._store / name, parse_address(broker.address)[1])
        self.brokers[name] = broker
        return broker

    async def _started(self, name: str, port: int) -> Broker:
        directory = self._store or Path(self._temporary.name if self._temporary else "")
        settings = BrokerSettings(
            directory / name,
            name=name,
            host=self._host,
            port=port,
            name_servers=(self.nameserver_address,),
            **self._settings,
        )
        broker = Broker(settings, clock=self._clock)
        await broker.start()
        return broker

    async def stop_broker(self, name: str) -> None:
        """Stop a broker in good order."""
        await self._take(name).stop()

    async def kill_broker(self, name: str) -> None:
        """End a broker as if its process had died."""
        await self._take(name).kill()

    # Convenience

    async def create_topic(
        self, topic: str, queues: int = 8, *, order: bool = False
    ) -> None:
        """Create a topic on every broker; the route is known when this returns."""
        config = TopicConfig(topic, queues, queues, order=order)
        header = CreateTopicRequestHeader.of(config)
        code = RequestCode.UPDATE_AND_CREATE_TOPIC
        for address in self.broker_addresses.values():
            channel = await connect(address, tls=self._tls)
            try:
                command = RemotingCommand.request(code, encode_header(header))
                for credentials in self._credentials[:1]:
                    command.ext_fields = credentials.sign(command.ext_fields, b"")
                response = await channel.request(command)
                raise_for_code(response, request_code=code, address=address)
            finally:
                await channel.close()

    def _take(self, name: str) -> Broker:
        broker = self.brokers.pop(name, None)
        if broker is None:
            raise ArgumentError(
                f"no broker {name!r} is running; "
                f"the running ones are {sorted(self.brokers)}"
            )
        return broker


def _kept_port(directory: Path) -> int:
    """Return the port that a broker last had, 0 if that is not known."""
    try:
        text = (directory / _PORT_FILE).read_text("ascii")
    except (OSError, UnicodeError):
        return 0
    return int(text) if text.isdecimal() and int(text) <= _MOST_PORT else 0


def _keep_port(directory: Path, port: int) -> None:
    if port == _kept_port(directory):
        return
    try:
        (directory / _PORT_FILE).write_text(str(port), "ascii")
    except OSError as error:
        # The broker runs; only its next start may take another port.
        logger.warning("port=%d not noted in %s: %s", port, directory, error)
