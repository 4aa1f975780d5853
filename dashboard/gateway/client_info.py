"""What one client says it is doing (307), and the producers of brokers (328, 204).

A broker relays the question to the client and waits ten seconds for it. With thread
stacks, a Java client stops its threads for a moment, so callers ask one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.errors import ResponseError, RmqError, RouteError
from rmqcore.protocol.bodies import ConsumerRunningInfo

from .asking import ask
from .settings import ClusterSettings

SECONDS: Final = 14.0
"""Longer than a broker waits for the client, so that its own words are seen."""


@dataclass(frozen=True, slots=True)
class HeldByClient:
    """One queue that a client says it has; times in ms by the client's clock."""

    topic: str
    broker: str
    queue_id: int
    committed: int
    cached: int
    locked: bool
    dropped: bool
    last_pull_at: int | None
    last_consume_at: int | None


@dataclass(frozen=True, slots=True)
class TopicPace:
    """How fast a client consumes one topic: messages a second, and ms for each."""

    topic: str
    pull_rate: float
    pull_ms: float
    ok_rate: float
    failed_rate: float
    consume_ms: float
    failed_in_hour: int


@dataclass(frozen=True, slots=True)
class RunningInfo:
    """What a client reports of one group; `stacks` only where they were asked for."""

    properties: Mapping[str, str]
    subscriptions: Sequence[tuple[str, str]]
    queues: Sequence[HeldByClient]
    paces: Sequence[TopicPace]
    stacks: str | None


@dataclass(frozen=True, slots=True)
class ProducerRow:
    """A producer on one host; `heard_at` is its last heartbeat, None if unsaid."""

    group: str
    client_id: str
    address: str
    language: str
    version: int
    heard_at: int | None
    brokers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Producers:
    """The producers of the brokers that told them, and the errors of the others."""

    rows: Sequence[ProducerRow]
    silent: Mapping[str, str]
    asked: Sequence[str]


def ask_client(
    cluster: ClusterSettings, group: str, client_id: str, *, stacks: bool = False
) -> RunningInfo:
    """Return what a client reports; raise RmqError if no broker can reach it."""

    async def work(admin: Admin) -> RunningInfo:
        return _plain(await _reach(admin, group, client_id, stacks))

    return ask(cluster, work, seconds=SECONDS)


def ask_producers(cluster: ClusterSettings, group: str = "") -> Producers:
    """Return the producers that each master knows; of one group, if it is named.

    Brokers before 4.9.5 tell the producers of a named group only.
    """

    async def work(admin: Admin) -> Producers:
        masters = {
            broker.broker_name: broker.master
            for broker in await admin.brokers()
            if broker.master is not None
        }
        found = await asyncio.gather(
            *(_producers(admin, at, group) for at in masters.values())
        )
        told = dict(zip(masters, found, strict=True))
        return Producers(
            _joined({n: t for n, t in told.items() if not isinstance(t, str)}),
            {name: t for name, t in told.items() if isinstance(t, str)},
            list(masters),
        )

    return ask(cluster, work)


async def _reach(
    admin: Admin, group: str, client_id: str, stacks: bool
) -> ConsumerRunningInfo:
    """Ask through one master after another, until one has the client connected."""
    refusal: RmqError = RouteError(f"no broker has {client_id!r} connected")
    for broker in await admin.brokers():
        if broker.master is None:
            continue
        try:
            return await admin.running_info(
                group, client_id, broker.master, jstack=stacks
            )
        except ResponseError as error:
            refusal = error
            if "not online" not in str(error):
                break
    raise refusal


def _plain(info: ConsumerRunningInfo) -> RunningInfo:
    return RunningInfo(
        properties=dict(sorted(info.properties.items())),
        subscriptions=[(s.topic, s.sub_string) for s in info.subscriptions],
        queues=[
            HeldByClient(
                topic=queue.topic,
                broker=queue.broker_name,
                queue_id=queue.queue_id,
                committed=held.commit_offset,
                cached=held.cached_msg_count,
                locked=held.locked,
                dropped=held.droped,
                last_pull_at=held.last_pull_timestamp or None,
                last_consume_at=held.last_consume_timestamp or None,
            )
            for queue, held in sorted(info.queues.items())
        ],
        paces=[
            TopicPace(
                topic,
                status.pull_tps,
                status.pull_rt,
                status.consume_ok_tps,
                status.consume_failed_tps,
                status.consume_rt,
                status.consume_failed_msgs,
            )
            for topic, status in sorted(info.statuses.items())
        ],
        stacks=info.jstack,
    )


async def _producers(admin: Admin, address: str, group: str) -> list[ProducerRow] | str:
    ask_one: Callable[[], Awaitable[list[ProducerRow]]]

    async def of_group() -> list[ProducerRow]:
        found = await admin.producer_connections(group, address)
        return [
            ProducerRow(
                group, c.client_id, c.client_addr, c.language, c.version, None, ()
            )
            for c in found
        ]

    async def of_all() -> list[ProducerRow]:
        found = await admin.producers(address)
        return [
            ProducerRow(
                name,
                p.client_id,
                p.remote_ip,
                p.language,
                p.version,
                p.last_update_timestamp or None,
                (),
            )
            for name, infos in found.items()
            for p in infos
        ]

    ask_one = of_group if group else of_all
    try:
        return await ask_one()
    except (RmqError, OSError) as error:
        return str(error)


def _joined(told: Mapping[str, Sequence[ProducerRow]]) -> list[ProducerRow]:
    """Make one row of a client's connections to several brokers."""
    rows: dict[tuple[str, str, str], ProducerRow] = {}
    for broker, found in told.items():
        for each in found:
            host = each.address.rpartition(":")[0].removeprefix("/")
            key = (each.group, each.client_id, host)
            last = rows.get(key)
            heard = [at for at in (each.heard_at, last and last.heard_at) if at]
            brokers = (*last.brokers, broker) if last else (broker,)
            rows[key] = ProducerRow(
                each.group,
                each.client_id,
                host or each.address,
                each.language,
                each.version,
                max(heard, default=None),
                tuple(dict.fromkeys(brokers)),
            )
    return [rows[key] for key in sorted(rows)]
