"""A whole cluster in one process and one event loop: a name server and brokers.

It is for trying, testing and teaching. Every part is the real one, on loopback sockets
of its own; a broker can be stopped or killed, and started again over the same store.

    async with LocalCluster(brokers=2) as cluster:
        await cluster.create_topic("orders", queues=8)
        producer = Producer(name_servers=[cluster.nameserver_address], ...)
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.errors import ArgumentError, StateError
from rmqcore.nameserver import NameServer
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import CreateTopicRequestHeader, encode_header
from rmqcore.transport import Clock, ServerTls, connect, raise_for_code

CLUSTER_NAME: Final = "LocalCluster"
SEGMENT_BYTES: Final = 16 * 1024 * 1024
READ_WRITE: Final = 6


class LocalCluster:
    """A name server and brokers `broker-a`, `broker-b`, … on free or given ports.

    Without a `store` directory a temporary one is used and removed at the end.
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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        """Start a broker, over the store it had if it ran before."""
        if name in self.brokers:
            raise StateError(f"broker {name} is running already")
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
        self.brokers[name] = broker
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
        header = CreateTopicRequestHeader(
            topic=topic,
            default_topic="TBW102",
            read_queue_nums=queues,
            write_queue_nums=queues,
            perm=READ_WRITE,
            topic_filter_type="SINGLE_TAG",
            topic_sys_flag=0,
            order=order,
        )
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
