"""The name servers of one cluster: the first that answers is used.

They hold the same routes and do not know of each other. One is kept while it answers;
when it does not, the next one is asked at once and kept from then on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from copy import copy

from rmqcore.errors import ArgumentError, ConnectError, TransportError
from rmqcore.model import TopicRoute
from rmqcore.protocol.bodies import decode_topic_route
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import GetRouteInfoRequestHeader, encode_header

from .address import parse_address
from .channel import DEFAULT_TIMEOUT_S
from .pool import ChannelPool
from .responses import raise_for_code

logger = logging.getLogger(__name__)

_ROUTE_OR_NONE = frozenset((ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST))


def parse_nameservers(addresses: str | Iterable[str]) -> tuple[str, ...]:
    """Return name server addresses from `host:port;host:port` or a list of them.

    Raises `ArgumentError` when there is none, or one is malformed.
    """
    given = addresses.split(";") if isinstance(addresses, str) else list(addresses)
    listed = tuple(dict.fromkeys(part.strip() for part in given if part.strip()))
    if not listed:
        raise ArgumentError(f"no name server in {addresses!r}, at least one is needed")
    for address in listed:
        parse_address(address)
    return listed


class NameServers:
    """Asks one of several name servers over a shared pool.

    `first` is the index of the one to begin with: clients begin at a random one, to
    spread the load. `timeout` is in seconds.
    """

    def __init__(
        self,
        addresses: str | Iterable[str],
        pool: ChannelPool,
        timeout: float = DEFAULT_TIMEOUT_S,
        *,
        first: int = 0,
    ) -> None:
        self.addresses = parse_nameservers(addresses)
        """Every name server, in the order given."""
        self._pool = pool
        self._timeout = timeout
        self._current = first

    @property
    def current(self) -> str:
        """The name server that answered last, or the first to be asked."""
        return self.addresses[self._current]

    async def request(
        self, command: RemotingCommand, timeout: float | None = None
    ) -> tuple[str, RemotingCommand]:
        """Return the address that answered, and the response, whatever its code.

        Raises `ConnectError`, naming every address and what went wrong there.
        """
        problems = []
        for _ in self.addresses:
            address = self.current
            try:
                # A command is numbered and signed when sent: each attempt has its own.
                return address, await self._pool.request(
                    address,
                    copy(command),
                    self._timeout if timeout is None else timeout,
                )
            except TransportError as error:
                problems.append(str(error))
                self._current = (self._current + 1) % len(self.addresses)
                logger.warning("nameserver=%s did not answer: %s", address, error)
        raise ConnectError(f"no name server answers: {'; '.join(problems)}")

    async def route(self, topic: str) -> TopicRoute | None:
        """Return the route of a topic, or None where no broker has it."""
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        header = GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=True)
        address, answer = await self.request(
            RemotingCommand.request(code, encode_header(header))
        )
        raise_for_code(answer, request_code=code, address=address, ok=_ROUTE_OR_NONE)
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        return decode_topic_route(answer.body)
