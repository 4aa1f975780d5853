"""The name servers of one cluster: any of them answers, so the first that does is used.

They hold the same routes and do not know of each other. One is kept while it answers;
when it does not, the next is asked at once and kept from then on.
"""

from __future__ import annotations

from collections.abc import Sequence

from rmqcore.errors import ArgumentError, ConnectError, TransportError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.address import parse_address
from rmqcore.transport.pool import ChannelPool


class NameServers:
    """Asks one of several name servers, given as addresses or as `a:1;b:2`."""

    def __init__(
        self, addresses: str | Sequence[str], pool: ChannelPool, timeout: float
    ) -> None:
        self._addresses = parse_nameservers(addresses)
        self._pool = pool
        self._timeout = timeout
        self._current = 0

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every name server, in the order given."""
        return self._addresses

    @property
    def current(self) -> str:
        """The name server that answered last, or the first to be asked."""
        return self._addresses[self._current]

    async def request(
        self, command: RemotingCommand, timeout: float | None = None
    ) -> tuple[str, RemotingCommand]:
        """Return who answered, and the response, whatever its code.

        Raises `ConnectError` naming every address and what went wrong there.
        """
        problems = []
        for _ in self._addresses:
            address = self.current
            try:
                return address, await self._pool.request(
                    address, command, self._timeout if timeout is None else timeout
                )
            except TransportError as error:
                problems.append(str(error))
                self._current = (self._current + 1) % len(self._addresses)
        raise ConnectError(f"no name server answers: {'; '.join(problems)}")

    async def request_all(self, command: RemotingCommand) -> dict[str, RemotingCommand]:
        """Ask every one, as changes must reach all; raise at the first fault."""
        return {
            address: await self._pool.request(address, command, self._timeout)
            for address in self._addresses
        }


def parse_nameservers(addresses: str | Sequence[str]) -> tuple[str, ...]:
    """Return the addresses of `a:1;b:2` or a list; `ArgumentError` for a wrong one."""
    parts = addresses.split(";") if isinstance(addresses, str) else addresses
    listed = tuple(part.strip() for part in parts if part.strip())
    if not listed:
        raise ArgumentError(f"no name server in {addresses!r}, at least one is needed")
    for address in listed:
        parse_address(address)
    return listed
