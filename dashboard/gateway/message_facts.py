"""What a cluster knows of one message's fate: offsets, retries, dead letters, traces.

The broker that stores the message is asked about everything, including the topics into
which RocketMQ copies a message that a group failed to consume: copies keep its unique
key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.names import is_system_group
from rmqcore.errors import ResponseError, RmqError
from rmqcore.model import MessageExt
from rmqcore.model.message import Property
from rmqcore.model.topic import DLQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC
from rmqcore.protocol.bodies import ConsumerConnection
from rmqcore.protocol.codes import ResponseCode

from .asking import ask
from .queue_search import readable
from .settings import ClusterSettings

MOST_GROUPS: Final = 50
AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Copies:
    """Where the copies of a message are that a group has failed to consume.

    `waiting` counts those whose time has not come, `unread` those in the retry topic
    that the group has not passed; `retried` counts all in the retry topic.
    """

    waiting: int = 0
    retried: int = 0
    unread: int = 0
    dead: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """How a group subscribes to the topic now; `since` is ms since the epoch."""

    kind: str
    expression: str
    tags: frozenset[str]
    since: int

    @property
    def takes_all(self) -> bool:
        return self.kind == "TAG" and not self.tags


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """One group and one message. None is not known; `error` says why.

    `committed` is the group's offset of the message's queue; without `filter` nobody
    is online, or nobody subscribes to the topic.
    """

    group: str
    committed: int | None
    members: int = 0
    broadcasting: bool = False
    pop: bool = False
    filter: Filter | None = None
    copies: Copies | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """All groups of a message's topic, and the bodies of its traces.

    `groups_left_out` counts those beyond the limit. `traces` is None where the cluster
    has no trace topic, and `trace_error` says why it could not be read.
    """

    groups: Sequence[GroupFacts]
    groups_left_out: int = 0
    traces: Sequence[bytes] | None = None
    trace_error: str = ""


def facts_of(
    cluster: ClusterSettings, message: MessageExt, trace_topic: str
) -> MessageFacts:
    """Ask what is known of a message; raise RmqError when its broker is silent."""

    async def work(admin: Admin) -> MessageFacts:
        return await _Facts(admin, message, trace_topic).collect()

    return ask(cluster, work)


# Private


class _Facts:
    def __init__(self, admin: Admin, message: MessageExt, trace_topic: str) -> None:
        self._admin = admin
        self._trace_topic = trace_topic
        self._message = message
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._topics: frozenset[str] = frozenset()
        self._committed: Mapping[tuple[str, str], Mapping[int, int]] = {}

    async def collect(self) -> MessageFacts:
        message, admin = self._message, self._admin
        self._topics = frozenset(await admin.topic_names())
        self._committed = await admin.committed_on(message.broker_name)
        names = await self._groups()
        (broker,) = await admin.brokers(broker_name=message.broker_name)
        scheduled = await self._scheduled()
        groups = await asyncio.gather(
            *(
                self._group(name, str(broker.any_address), scheduled)
                for name in names[:MOST_GROUPS]
            )
        )
        traces, error = await self._traces()
        return MessageFacts(groups, max(0, len(names) - MOST_GROUPS), traces, error)

    async def _groups(self) -> list[str]:
        topic = self._message.topic
        if topic.startswith(RETRY_PREFIX):
            return [topic.removeprefix(RETRY_PREFIX)]
        names = await self._admin.groups_of_topic(topic)
        return [name for name in names if not is_system_group(name)]

    async def _group(
        self, name: str, address: str, scheduled: Sequence[MessageExt] | str
    ) -> GroupFacts:
        message = self._message
        committed = self._committed.get((message.topic, name), {}).get(message.queue_id)
        async with self._turns:
            try:
                found = await self._admin.consumer_connection(name, address)
                copies = await self._copies(name, scheduled)
            except RmqError as error:
                return GroupFacts(name, committed, error=str(error))
        if isinstance(copies, str):
            return GroupFacts(name, committed, error=copies)
        if found is None:
            return GroupFacts(name, committed, copies=copies)
        return GroupFacts(
            name,
            committed,
            members=len(found.connections),
            broadcasting=found.message_model == "BROADCASTING",
            pop=found.consume_type == "CONSUME_POP",
            filter=_filter(found, message.topic),
            copies=copies,
        )

    async def _copies(
        self, group: str, scheduled: Sequence[MessageExt] | str
    ) -> Copies | str | None:
        """Return the copies for one group; None for a message without unique key."""
        unique = self._message.properties.get(Property.UNIQUE_KEY)
        if unique is None:
            return None
        if isinstance(scheduled, str):
            return scheduled
        retry_topic = RETRY_PREFIX + group
        retried = await self._with_key(retry_topic, unique)
        retried = [each for each in retried if not self._is_same(each)]
        dead = await self._with_key(DLQ_PREFIX + group, unique)
        delayed = _delayed_for(retry_topic, scheduled)
        return Copies(
            waiting=max(0, delayed - len(retried)),
            retried=len(retried),
            unread=sum(not self._is_passed(each, group) for each in retried),
            dead=any(not self._is_same(each) for each in dead),
        )

    async def _scheduled(self) -> Sequence[MessageExt] | str:
        """Return copies that wait, or have waited, for their time; or the error."""
        unique = self._message.properties.get(Property.UNIQUE_KEY)
        if unique is None:
            return []
        try:
            return await self._with_key(SCHEDULE_TOPIC, unique)
        except RmqError as error:
            return str(error)

    async def _with_key(self, topic: str, unique: str) -> list[MessageExt]:
        if topic not in self._topics:
            return []
        found = await self._admin.messages_by_key(topic, unique, unique=True)
        if found.failed:
            raise _first_error(found.failed)
        return list(found.messages)

    def _is_same(self, other: MessageExt) -> bool:
        mine = self._message
        return (other.topic, other.broker_name, other.queue_id, other.queue_offset) == (
            *(mine.topic, mine.broker_name),
            *(mine.queue_id, mine.queue_offset),
        )

    def _is_passed(self, copy: MessageExt, group: str) -> bool:
        """Tell whether a group has passed a copy; not for one on another broker."""
        if copy.broker_name != self._message.broker_name:
            return False
        offsets = self._committed.get((copy.topic, group), {})
        return offsets.get(copy.queue_id, 0) > copy.queue_offset

    async def _traces(self) -> tuple[Sequence[bytes] | None, str]:
        topic = self._trace_topic
        if topic not in self._topics:
            return None, ""
        try:
            found = await self._admin.messages_by_key(topic, self._message.msg_id)
        except ResponseError as error:
            if error.code == ResponseCode.TOPIC_NOT_EXIST:
                return None, ""
            return [], str(error)
        except RmqError as error:
            return [], str(error)
        bodies = [each.body for each in readable(found.messages)]
        return bodies, "; ".join(found.failed.values())


def _filter(found: ConsumerConnection, topic: str) -> Filter | None:
    data = found.subscriptions.get(topic)
    if data is None:
        return None
    return Filter(
        kind=data.expression_type or "TAG",
        expression=data.sub_string,
        tags=frozenset() if data.takes_all else data.tags,
        since=data.sub_version,
    )


def _delayed_for(retry_topic: str, scheduled: Iterable[MessageExt]) -> int:
    return sum(
        each.properties.get(Property.REAL_TOPIC) == retry_topic for each in scheduled
    )


def _first_error(failed: Mapping[str, str]) -> RmqError:
    return RmqError(next(iter(failed.values())))
