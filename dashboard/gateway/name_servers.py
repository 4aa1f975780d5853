"""What each name server of a cluster says by itself, and where they disagree.

Name servers do not know of each other: a broker registers at each of them. After a
broker's restart, or while one of them cannot be reached, their routes may differ, and
then clients see different queues depending on which one they ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from rmqcore.model.route import TopicRoute

from .asking import ask
from .settings import ClusterSettings

MAX_ROUTES: Final = 500
"""The routes of at most this many topics are compared, in the order of their names."""
AT_ONCE: Final = 16


@dataclass(frozen=True, slots=True)
class NameServerView:
    """What one name server says: brokers with their addresses, and topics.

    `error` is set where it did not answer; the rest is empty then.
    """

    address: str
    brokers: Mapping[str, str] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which name servers disagree, and what each of them says about it.

    `said` is by address; None where that name server does not know it.
    """

    kind: str
    name: str
    said: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class NameServers:
    """The views of all name servers, and their differences.

    `compared` counts the topics whose routes all returned, of `topics` that all know.
    """

    views: Sequence[NameServerView]
    differences: Sequence[Difference]
    compared: int
    topics: int

    @property
    def answered(self) -> int:
        """How many name servers answered."""
        return sum(each.error is None for each in self.views)


def ask_name_servers(cluster: ClusterSettings) -> NameServers:
    """Return where the name servers of a cluster disagree."""
    return ask(cluster, compare)


async def compare(admin: Admin) -> NameServers:
    """Ask each name server for brokers, topics and routes, and compare the answers."""
    addresses = admin.nameservers
    views = await asyncio.gather(*(_view(admin, each) for each in addresses))
    heard = [each for each in views if each.error is None]
    found = [
        *_listed("broker", {each.address: each.brokers for each in heard}),
        *_listed(
            "topic", {each.address: dict.fromkeys(each.topics, "✓") for each in heard}
        ),
    ]
    if len(heard) < 2:
        return NameServers(views, found, 0, 0)
    shared = sorted(frozenset.intersection(*(each.topics for each in heard)))
    told = await _routes(admin, [v.address for v in heard], shared[:MAX_ROUTES])
    found += [
        Difference("route", topic, said)
        for topic, said in told.items()
        if len(set(said.values())) > 1
    ]
    compared = sum(len(said) == len(heard) for said in told.values())
    return NameServers(views, found, compared, len(shared))


async def _view(admin: Admin, address: str) -> NameServerView:
    try:
        info, topics = await asyncio.gather(
            admin.brokers_named_by(address), admin.topics_named_by(address)
        )
    except (RmqError, OSError) as error:
        return NameServerView(address, error=str(error))
    brokers = {
        name: ", ".join(f"{no}: {at}" for no, at in sorted(data.addresses.items()))
        for name, data in info.brokers.items()
    }
    return NameServerView(address, brokers, topics)


def _listed(kind: str, said: Mapping[str, Mapping[str, str]]) -> list[Difference]:
    names = sorted({name for known in said.values() for name in known})
    found = [
        Difference(kind, name, {at: known.get(name) for at, known in said.items()})
        for name in names
    ]
    return [each for each in found if len(set(each.said.values())) > 1]


async def _routes(
    admin: Admin, addresses: Sequence[str], topics: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    """Return what each name server that answers says of each topic's route."""
    places = asyncio.Semaphore(AT_ONCE)

    async def of_topic(topic: str) -> dict[str, str | None]:
        async with places:
            routes = await asyncio.gather(
                *(admin.route_named_by(address, topic) for address in addresses),
                return_exceptions=True,
            )
        return {
            address: said_of(route)
            for address, route in zip(addresses, routes, strict=True)
            if not isinstance(route, BaseException)
        }

    told = await asyncio.gather(*map(of_topic, topics))
    return dict(zip(topics, told, strict=True))


def said_of(route: TopicRoute | None) -> str | None:
    """Write a route in one line: queues to read and write, and permissions."""
    if route is None:
        return None
    queues = sorted(route.queues, key=lambda data: data.broker_name)
    return "; ".join(
        f"{data.broker_name}: {data.read_queue_nums}/{data.write_queue_nums} "
        f"({int(data.perm)})"
        for data in queues
    )
