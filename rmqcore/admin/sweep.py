"""One broker's answers to one sweep: listings, offsets, statistics, members.

Theory. Three chains run side by side over one channel, so that the broker works while
we decode: topics (21) and their statistics (202); groups (201) and their members
(203); all committed offsets (43). Whatever a later answer shows to be needed (for a
group known by its offsets alone, or a system topic that somebody consumes) is asked for
at the end.

Nothing here judges or merges; `assemble` does. A broker that refuses one of the three
listings, or sends one that cannot be read, is asked for the others all the same. A
connection that fails, or a broker that is busy, ends its sweep; what was answered
before is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from rmqcore.errors import BusyError, ProtocolError, ResponseError, RmqError
from rmqcore.model.columns import Reason
from rmqcore.model.mapping import TopicQueueMapping
from rmqcore.model.route import BrokerData, QueueData
from rmqcore.model.topic import RETRY_PREFIX, dead_letter_topic, retry_topic
from rmqcore.protocol.bodies import (
    ConsumerConnection,
    ConsumeStats,
    ConsumeTimeSpan,
    decode_consume_stats,
    decode_consume_time_spans,
    decode_consumer_connection,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand

from .failures import answer_error, reason_for
from .line import Line
from .listings import GROUPS, TOPICS, ask_listing
from .memory import Memory
from .names import is_system_group, is_system_topic, retry_groups
from .tables import (
    GroupOffsets,
    OffsetTables,
    TopicOffsets,
    decode_group_listing,
    decode_offset_tables,
    decode_topic_listing,
    decode_topic_offsets,
)

T = TypeVar("T")
K = TypeVar("K")
Pair = tuple[str, str]

_ABSENT: Final[dict[int, Reason]] = {
    ResponseCode.CONSUMER_NOT_ONLINE: Reason.OFFLINE,
    ResponseCode.TOPIC_NOT_EXIST: Reason.NOT_LISTED,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: Reason.NOT_LISTED,
}
"""Answers that say that something does not exist, which is not a fault."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a snapshot asks for. `groups` None means all of them."""

    groups: frozenset[str] | None = None
    running_info: bool | frozenset[str] = False
    time_lag: bool = False
    pulled: bool = False


@dataclass(slots=True)
class BrokerAnswers:
    """Everything one broker answered; for what is missing there is a reason or `error`.

    `topics`, `groups` and `offsets` are None where the broker did not tell; `memory` is
    what it told last. `faults` has the error of each of the three that it refused.
    """

    broker: BrokerData
    address: str | None
    memory: Memory = field(default_factory=Memory)
    missing_since_ms: int | None = None
    stale: bool = False
    asked_at_ms: int | None = None
    answered_at_ms: int | None = None
    took_ms: float | None = None
    version: int | None = None
    error: Exception | None = None
    faults: dict[str, RmqError] = field(default_factory=dict)
    topics: Mapping[str, QueueData] | None = None
    groups: frozenset[str] | None = None
    offsets: OffsetTables | None = None
    stats: dict[str, TopicOffsets | Reason] = field(default_factory=dict)
    members: dict[str, ConsumerConnection | Reason] = field(default_factory=dict)
    spans: dict[Pair, list[ConsumeTimeSpan] | Reason] = field(default_factory=dict)
    consumed: dict[str, ConsumeStats | Reason] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The broker's name."""
        return self.broker.broker_name

    @property
    def reason(self) -> Reason:
        """The reason given for whatever this broker did not answer."""
        if self.error is None:
            return Reason.NOT_LISTED
        reason = reason_for(self.error)
        if reason is Reason.NO_ANSWER and self.missing_since_ms is not None:
            return Reason.MISSING
        return reason

    def reason_of(self, fact: str) -> Reason:
        """Return why one of the three listings, or what depends on it, is unknown."""
        fault = self.faults.get(fact)
        return self.reason if fault is None else reason_for(fault)

    @property
    def listed_topics(self) -> Mapping[str, QueueData]:
        """The topics that it lists, or listed when it last told."""
        if self.topics is not None:
            return self.topics
        known = self.memory.topics
        return {} if known is None else known.listing.topics

    @property
    def mappings(self) -> Mapping[str, TopicQueueMapping]:
        """The static topics that it lists, or listed when it last told."""
        known = self.memory.topics
        return {} if known is None else known.listing.mappings

    @property
    def committed(self) -> GroupOffsets:
        """The offsets that groups have committed, or had when it last told."""
        known = self.offsets
        return self.memory.committed if known is None else known.committed


class BrokerSweep:
    """Asks one broker everything that a question needs of it."""

    def __init__(
        self,
        answers: BrokerAnswers,
        line: Line,
        question: Question,
        system_names: tuple[frozenset[str], frozenset[str]],
    ) -> None:
        self.answers = answers
        self.line = line
        self._question = question
        self._memory = answers.memory
        self._cluster_names, self._broker_names = system_names

    async def run(self) -> None:
        """Ask everything; raise `RmqError` when not all of it was answered."""
        await self.line.connect()
        self._memory.note_channel(self.line.channel, self.answers.asked_at_ms or 0)
        self.answers.address = self.line.address
        self.answers.stale = self.line.address != self.answers.broker.master
        await _together(
            self._fact("topics", self._ask_topics()),
            self._fact("groups", self._ask_groups()),
            self._fact("offsets", self._ask_offsets()),
        )
        await self._ask_members(self._groups_known_otherwise())
        await self._ask_stats(self._topics_in_use())
        await _together(self._ask_spans(), self._ask_pulled())
        for fault in self.answers.faults.values():
            raise fault

    async def _fact(self, name: str, chain: Coroutine[Any, Any, None]) -> None:
        """Run one of the chains; a refusal does not end the others."""
        try:
            await chain
        except BusyError:
            raise
        except (ResponseError, ProtocolError) as error:
            self.answers.faults[name] = error

    # The three chains

    async def _ask_topics(self) -> None:
        decode = partial(decode_topic_listing, broker_name=self.answers.name)
        remembered = await ask_listing(self.line, TOPICS, decode, self._memory.topics)
        self._memory.topics = remembered
        self.answers.topics = remembered.listing.topics
        if self._question.groups is None:
            await self._ask_stats(
                topic
                for topic in remembered.listing.topics
                if not is_system_topic(topic, self._cluster_names, self._broker_names)
            )

    async def _ask_groups(self) -> None:
        remembered = await ask_listing(
            self.line, GROUPS, decode_group_listing, self._memory.groups
        )
        self._memory.groups = remembered
        self.answers.groups = remembered.listing.names
        # A group asked for by name may have members here and be listed elsewhere.
        await self._ask_members(
            self._wanted(remembered.listing.names)
            if self._question.groups is None
            else self._question.groups
        )

    async def _ask_offsets(self) -> None:
        answer = await self.line.ask(
            RemotingCommand.request(RequestCode.GET_ALL_CONSUMER_OFFSET)
        )
        self.answers.version = answer.version
        self.answers.offsets = decode_offset_tables(
            answer.body, self._memory.offsets, pulled=self._question.pulled
        )

    # What the chains have shown to be needed

    def _wanted(self, groups: Iterable[str]) -> list[str]:
        if self._question.groups is not None:
            return [group for group in self._question.groups if group in groups]
        return [group for group in groups if not is_system_group(group)]

    def _groups_known_otherwise(self) -> list[str]:
        known = self.answers.groups or frozenset()
        offsets = self.answers.offsets
        committed = offsets.committed.keys() if offsets is not None else set()
        topics = self.answers.topics or {}
        retries = retry_groups(
            (topic for topic in topics if topic.startswith(RETRY_PREFIX)),
            known | committed,
            topics,
        )
        found = (committed | retries) - self.answers.members.keys()
        return self._wanted(found)

    def _topics_in_use(self) -> set[str]:
        """Return the topics that wanted groups consume and that were not asked yet."""
        unasked = self.answers.listed_topics.keys() - self.answers.stats.keys()
        if not unasked:
            return unasked
        offsets = self.answers.offsets
        committed = offsets.committed if offsets is not None else {}
        wanted = self.answers.members.keys() | set(self._wanted(committed))
        used = set(map(retry_topic, wanted))
        used.update(map(dead_letter_topic, wanted))
        used.update(*(committed[group] for group in wanted & committed.keys()))
        for members in self.answers.members.values():
            if isinstance(members, ConsumerConnection):
                used.update(members.subscriptions)
        return used & unasked

    # Requests of one kind

    async def _ask_stats(self, topics: Iterable[str]) -> None:
        await self._ask_each(
            RequestCode.GET_TOPIC_STATS_INFO,
            ((topic, {"topic": topic}) for topic in topics),
            partial(self._memory.stats.decoded, decode=decode_topic_offsets),
            self.answers.stats,
        )

    async def _ask_members(self, groups: Iterable[str]) -> None:
        await self._ask_each(
            RequestCode.GET_CONSUMER_CONNECTION_LIST,
            ((group, {"consumerGroup": group}) for group in groups),
            partial(
                self._memory.connections.decoded, decode=decode_consumer_connection
            ),
            self.answers.members,
        )

    async def _ask_spans(self) -> None:
        if not self._question.time_lag:
            return
        await self._ask_each(
            RequestCode.QUERY_CONSUME_TIME_SPAN,
            (
                ((group, topic), {"group": group, "topic": topic})
                for group, topic in self._lagging()
            ),
            lambda _, body: decode_consume_time_spans(body),
            self.answers.spans,
        )

    async def _ask_pulled(self) -> None:
        offsets = self.answers.offsets
        if not self._question.pulled or offsets is None or offsets.pulled is not None:
            return
        await self._ask_each(
            RequestCode.GET_CONSUME_STATS,
            ((g, {"consumerGroup": g}) for g in self._wanted(offsets.committed)),
            lambda _, body: decode_consume_stats(body),
            self.answers.consumed,
        )

    def _lagging(self) -> Iterable[Pair]:
        offsets = self.answers.offsets
        if offsets is None:
            return
        for group in self._wanted(offsets.committed):
            for topic, flat in offsets.committed[group].items():
                stats = self.answers.stats.get(topic)
                if isinstance(stats, TopicOffsets) and _lags(flat, stats):
                    yield group, topic

    async def _ask_each(
        self,
        code: RequestCode,
        requests: Iterable[tuple[K, dict[str, str]]],
        decode: Callable[[K, bytes], T],
        into: dict[K, T | Reason],
    ) -> None:
        def take(key: K, answer: RemotingCommand) -> None:
            if answer.code == ResponseCode.SUCCESS:
                try:
                    into[key] = decode(key, answer.body)
                except ProtocolError as error:
                    into[key] = reason_for(error)
                return
            into[key] = _ABSENT.get(answer.code) or _refusal(answer, code, self.line)

        await self.line.ask_each(
            ((key, RemotingCommand.request(code, fields)) for key, fields in requests),
            take,
        )


def _refusal(answer: RemotingCommand, code: int, line: Line) -> Reason:
    error = answer_error(answer, request_code=code, address=line.address)
    return reason_for(error) if error is not None else Reason.REFUSED


def _lags(flat: list[int], stats: TopicOffsets) -> bool:
    committed = dict(zip(flat[::2], flat[1::2], strict=True))
    return any(
        committed.get(queue_id, newest) < newest
        for queue_id, newest in zip(stats.queue_ids, stats.max, strict=True)
    )


async def _together(*chains: Coroutine[Any, Any, None]) -> None:
    """Run the chains side by side; the first error ends the others and is raised."""
    tasks = [asyncio.ensure_future(chain) for chain in chains]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
