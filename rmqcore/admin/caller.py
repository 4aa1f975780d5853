"""The base of every typed call: whom to ask, and how to judge the answer.

A call is one request with a typed header to one address; a call that must reach a whole
cluster is one request per broker, side by side. Answers other than success become
errors that name the address, the request and the peer's own words.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final, Self, TypeVar

from rmqcore.errors import ArgumentError, RouteError
from rmqcore.model.route import BrokerData
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.bodies import ClusterInfo, decode_cluster_info
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import Header, encode_header
from rmqcore.transport.channel import DEFAULT_TIMEOUT_S
from rmqcore.transport.clock import Clock, SystemClock
from rmqcore.transport.nameservers import NameServers
from rmqcore.transport.pool import ChannelPool, RequestHook
from rmqcore.transport.responses import raise_for_code
from rmqcore.transport.signing import signing

from .snapshot import Patience, SnapshotTaker

_SUCCESS: Final = (0,)

T = TypeVar("T")


class Caller:
    """Connections to one cluster, shared by the calls about topics, offsets and groups.

    `nameservers` is one or several `host:port`, as a list or joined by semicolons. A
    caller belongs to the event loop it is first used on; close it, or use it as a
    context. `credentials` sign every request, after all other `hooks`.
    """

    def __init__(
        self,
        nameservers: str | Sequence[str],
        *,
        tls: ssl.SSLContext | None = None,
        credentials: AclCredentials | None = None,
        hooks: Sequence[RequestHook] = (),
        clock: Clock | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
        patience: Patience | None = None,
    ) -> None:
        if credentials is not None:
            hooks = (*hooks, signing(credentials))
        self._timeout = timeout
        self._clock = SystemClock() if clock is None else clock
        self._pool = ChannelPool(tls=tls, hooks=hooks, connect_timeout=timeout)
        self._nameservers = NameServers(nameservers, self._pool, timeout)
        self._snapshots = SnapshotTaker(
            self._nameservers, self._pool, self._clock, patience or Patience()
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()

    async def cluster_info(self) -> ClusterInfo:
        """Return the brokers that the name server knows, by name and by cluster."""
        answer = await self._ask_nameserver(RequestCode.GET_BROKER_CLUSTER_INFO)
        return decode_cluster_info(answer.body)

    async def brokers(
        self, cluster: str | None = None, broker_name: str | None = None
    ) -> tuple[BrokerData, ...]:
        """Return the brokers of a cluster, or the one of that name, or all.

        Raises `RouteError`, which names what was not found and what exists.
        """
        info = await self.cluster_info()
        if broker_name is not None:
            found = [info.brokers[broker_name]] if broker_name in info.brokers else []
            wanted, known = f"broker {broker_name!r}", sorted(info.brokers)
        elif cluster is not None:
            found = [b for b in info.brokers.values() if b.cluster == cluster]
            wanted, known = f"cluster {cluster!r}", sorted(info.clusters)
        else:
            found = list(info.brokers.values())
            wanted, known = "broker", []
        if not found:
            raise RouteError(
                f"{self._nameservers.current} knows no {wanted}; it knows {known}"
            )
        return tuple(sorted(found, key=lambda broker: broker.broker_name))

    # For the subclasses

    async def _ask_nameserver(
        self, code: RequestCode, header: Header | None = None
    ) -> RemotingCommand:
        request = _request(code, header, b"")
        address, answer = await self._nameservers.request(request, self._timeout)
        raise_for_code(answer, request_code=code, address=address)
        return answer

    async def _ask(
        self,
        address: str,
        code: RequestCode,
        header: Header | None = None,
        body: bytes = b"",
        *,
        ok: Sequence[int] = _SUCCESS,
        timeout: float | None = None,
    ) -> RemotingCommand:
        answer = await self._pool.request(
            address,
            _request(code, header, body),
            self._timeout if timeout is None else timeout,
        )
        raise_for_code(answer, request_code=code, address=address, ok=ok)
        return answer

    async def _ask_each(
        self,
        addresses: Iterable[str],
        code: RequestCode,
        header: Header | None = None,
        body: bytes = b"",
        *,
        ok: Sequence[int] = _SUCCESS,
    ) -> list[RemotingCommand]:
        return await self._on_each(
            addresses, lambda address: self._ask(address, code, header, body, ok=ok)
        )

    async def _on_each(
        self, addresses: Iterable[str], call: Callable[[str], Awaitable[T]]
    ) -> list[T]:
        """Call brokers side by side; raise the first error when all are done."""
        answers = await asyncio.gather(*map(call, addresses), return_exceptions=True)
        done = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            done.append(answer)
        return done

    async def _addresses(
        self, cluster: str | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the names of a cluster's brokers, and where to ask each."""
        brokers = [b for b in await self.brokers(cluster) if b.any_address is not None]
        return (
            [broker.broker_name for broker in brokers],
            [str(broker.any_address) for broker in brokers],
        )

    async def _masters(
        self, cluster: str | None, broker_name: str | None = None
    ) -> list[str]:
        """Return the masters' addresses; changes go to masters only."""
        brokers = await self.brokers(cluster, broker_name)
        masters = [broker.master for broker in brokers if broker.master is not None]
        if len(masters) < len(brokers):
            headless = [b.broker_name for b in brokers if b.master is None]
            raise RouteError(f"no master is alive of {', '.join(headless)}")
        return masters


def positive(name: str, value: int) -> int:
    """Return a count that must be at least 1; raise `ArgumentError` otherwise."""
    if value < 1:
        raise ArgumentError(f"{name} is {value}, at least 1 is needed")
    return value


def _request(code: RequestCode, header: Header | None, body: bytes) -> RemotingCommand:
    return RemotingCommand.request(
        code, None if header is None else encode_header(header), body
    )
