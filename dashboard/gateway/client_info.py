"""What one client says it is doing (307).

A broker relays the question to the client and waits ten seconds for it. With thread
stacks, a Java client stops its threads for a moment, so callers ask one at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.errors import (
    RequestTimeoutError,
    ResponseError,
    RmqError,
    RouteError,
    TransportError,
)
from rmqcore.protocol.bodies import ConsumerRunningInfo

from .asking import ask, or_error
from .settings import ClusterSettings

SECONDS: Final = 14.0
"""Longer than a broker waits for the client, so that the broker's own error is seen."""


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


def ask_client(
    cluster: ClusterSettings, group: str, client_id: str, *, stacks: bool = False
) -> RunningInfo:
    """Return what a client reports; raise RmqError if no broker can reach it."""

    async def work(admin: Admin) -> RunningInfo:
        return _plain(await _reach(admin, group, client_id, stacks))

    return ask(cluster, work, seconds=SECONDS)


async def _reach(
    admin: Admin, group: str, client_id: str, stacks: bool
) -> ConsumerRunningInfo:
    """Ask through the masters that list the client, one after another.

    A broker that is away is passed over. What a broker answers is the end: it has the
    client connected, and has asked it. So is silence where stacks were asked for, which
    the client may be making.
    """
    brokers = await admin.brokers()
    masters = [each.master for each in brokers if each.master is not None]
    listed = await asyncio.gather(
        *(or_error(admin.client_ids(group, at)) for at in masters)
    )
    silent = [each for each in listed if isinstance(each, str)]
    refusal: RmqError = RouteError(
        "; ".join([f"no broker has {client_id!r} connected", *silent])
    )
    for master, ids in zip(masters, listed, strict=True):
        if isinstance(ids, str) or client_id not in ids:
            continue
        try:
            return await admin.running_info(group, client_id, master, jstack=stacks)
        except ResponseError as error:
            refusal = error
            if "not online" not in str(error):
                break
        except TransportError as error:
            refusal = error
            if stacks and isinstance(error, RequestTimeoutError):
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
