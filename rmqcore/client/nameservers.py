"""Asking name servers: any one will do, and the next one when it does not answer.

Name servers know nothing of each other and hold the same routes, so a client stays
with one (chosen by chance, so that clients spread) and moves on when it fails.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from random import Random

from rmqcore.errors import ArgumentError, ConnectError, TransportError
from rmqcore.model import TopicRoute
from rmqcore.protocol.bodies import decode_topic_route
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import GetRouteInfoRequestHeader, encode_header
from rmqcore.transport import ChannelPool, parse_address, raise_for_code

logger = logging.getLogger(__name__)

_ROUTE_OR_NONE = frozenset((ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST))


def parse_nameservers(addresses: str | Iterable[str]) -> tuple[str, ...]:
    """Return name server addresses from `host:port;host:port` or a list of them.

    Raises `ArgumentError` when there is none, or one is malformed.
    """
    given = addresses.split(";") if isinstance(addresses, str) else list(addresses)
    cleaned = tuple(dict.fromkeys(a.strip() for a in given if a.strip()))
    if not cleaned:
        raise ArgumentError("no name server address is given")
    for address in cleaned:
        parse_address(address)
    return cleaned


class NameServers:
    """The name servers of one cluster, over a shared channel pool."""

    def __init__(
        self, addresses: Sequence[str], pool: ChannelPool, rng: Random
    ) -> None:
        self.addresses = tuple(addresses)
        self._pool = pool
        self._current = rng.randrange(len(self.addresses))

    async def route(self, topic: str) -> TopicRoute | None:
        """Return the route of a topic, or None when it does not exist.

        Raises `ConnectError` naming every address when no name server answers.
        """
        header = GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=True)
        address, response = await self._ask(
            RequestCode.GET_ROUTEINFO_BY_TOPIC, encode_header(header)
        )
        raise_for_code(
            response,
            request_code=RequestCode.GET_ROUTEINFO_BY_TOPIC,
            address=address,
            ok=_ROUTE_OR_NONE,
        )
        if response.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        return decode_topic_route(response.body)

    async def _ask(
        self, code: int, ext_fields: dict[str, str]
    ) -> tuple[str, RemotingCommand]:
        problems: list[str] = []
        for _ in self.addresses:
            address = self.addresses[self._current]
            try:
                # A command is numbered when sent, so each attempt has its own.
                command = RemotingCommand.request(code, ext_fields)
                return address, await self._pool.request(address, command)
            except TransportError as error:
                problems.append(str(error))
                self._current = (self._current + 1) % len(self.addresses)
                logger.warning("nameserver=%s did not answer: %s", address, error)
        raise ConnectError(f"no name server answered: {'; '.join(problems)}")
