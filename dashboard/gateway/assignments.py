"""A broker's own division of a group (code 400), asked for member by member.

Brokers of 5.x divide by AVG and AVG_BY_CIRCLE among the members currently connected to
them. Asking changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from rmqcore.model import MessageQueue

from .connections import open_admin
from .settings import ClusterSettings

SERVED: Final = frozenset({"AVG", "AVG_BY_CIRCLE"})
MAX_QUESTIONS: Final = 400
AT_ONCE: Final = 8
SECONDS: Final = 8.0


class NoDivisionError(Exception):
    """The broker returns no division; the message says why."""


def ask_division(
    cluster: ClusterSettings,
    group: str,
    *,
    topics: Collection[str],
    client_ids: Sequence[str],
    strategy: str,
) -> Mapping[str, frozenset[MessageQueue]]:
    """Return the queues a broker gives each member; for callers without an event loop.

    Raise NoDivisionError if the broker does not serve or answer it, or if it is too
    much to ask.
    """
    if strategy not in SERVED:
        served = ", ".join(sorted(SERVED))
        raise NoDivisionError(f"brokers divide by {served}, not by {strategy}")
    questions = len(topics) * len(client_ids)
    if questions > MAX_QUESTIONS:
        raise NoDivisionError(
            f"{questions:,} questions (members times topics), limit {MAX_QUESTIONS}"
        )
    try:
        return asyncio.run(
            asyncio.wait_for(
                _ask(cluster, group, topics, client_ids, strategy), SECONDS
            )
        )
    except TimeoutError:
        raise NoDivisionError(f"no answer within {SECONDS:g} s") from None
    except RmqError as error:
        raise NoDivisionError(str(error)) from error


async def _ask(
    cluster: ClusterSettings,
    group: str,
    topics: Collection[str],
    client_ids: Sequence[str],
    strategy: str,
) -> Mapping[str, frozenset[MessageQueue]]:
    admin = open_admin(cluster)
    turns = asyncio.Semaphore(AT_ONCE)
    try:
        address = await _broker(admin)

        async def share(client_id: str, topic: str) -> tuple[str, list[MessageQueue]]:
            async with turns:
                answer = await admin.query_assignment(
                    group, topic, client_id, address, strategy=strategy
                )
            if answer is None:
                raise NoDivisionError(f"broker {address} has no division of {topic!r}")
            return client_id, [each.queue for each in answer]

        shares = await asyncio.gather(
            *(share(client_id, topic) for client_id in client_ids for topic in topics)
        )
    finally:
        await admin.close()
    division: dict[str, set[MessageQueue]] = {each: set() for each in client_ids}
    for client_id, queues in shares:
        division[client_id].update(queues)
    return {each: frozenset(queues) for each, queues in division.items()}


async def _broker(admin: Admin) -> str:
    """Return the address of some broker: members are connected to all of them."""
    info = await admin.cluster_info()
    for _name, broker in sorted(info.brokers.items()):
        if broker.master is not None:
            return broker.master
    raise NoDivisionError("the name server knows no broker")
