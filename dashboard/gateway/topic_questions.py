"""What a topic's page asks a cluster on request: route, configuration, producers.

For a broker that refuses or is silent there is an error in place of its answer; the
answers of the others do not depend on it. Brokers do not know which topics a producer
sends to, so the producers are all those that are connected to a broker of the topic.
Each broker of a static topic knows of the logical queues that it leads or has led.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rmqcore.admin import Admin
from rmqcore.model.mapping import LogicalPiece, LogicQueueMappingItem, pieces_of
from rmqcore.model.route import BrokerData, TopicRoute
from rmqcore.model.topic import TopicConfig

from .asking import ask, or_error
from .producers import Producers, producers_of
from .settings import ClusterSettings


@dataclass(frozen=True, slots=True)
class TopicAnswers:
    """The answers by broker name; `errors` says why a configuration is missing.

    `logical` has the pieces of each logical queue of a static topic by its number,
    oldest first. They are all there only where every broker answered.
    """

    route: TopicRoute
    configs: Mapping[str, TopicConfig]
    producers: Producers
    errors: Mapping[str, str]
    logical: Mapping[int, Sequence[LogicalPiece]] = field(default_factory=dict)

    @property
    def troubles(self) -> list[tuple[str, str]]:
        """Each broker that did not answer in full, with each of its errors once."""
        told = [*self.errors.items(), *self.producers.silent.items()]
        return list(dict.fromkeys(told))


def ask_topic(cluster: ClusterSettings, topic: str) -> TopicAnswers:
    """Ask name server and brokers; raise RmqError where there is no route."""
    return ask(cluster, lambda admin: _ask(admin, topic))


async def _ask(admin: Admin, topic: str) -> TopicAnswers:
    route = await admin.topic_route(topic)
    producers, found = await asyncio.gather(
        producers_of(admin, route.brokers),
        asyncio.gather(
            *(or_error(_config(admin, topic, each)) for each in route.brokers)
        ),
    )
    told = {b.broker_name: each for b, each in zip(route.brokers, found, strict=True)}
    configs = {n: each for n, each in told.items() if isinstance(each, TopicConfig)}
    return TopicAnswers(
        route,
        configs,
        producers,
        {name: each for name, each in told.items() if isinstance(each, str)},
        await _logical_queues(admin, topic, configs) if route.mappings else {},
    )


async def _logical_queues(
    admin: Admin, topic: str, configs: Mapping[str, TopicConfig]
) -> dict[int, Sequence[LogicalPiece]]:
    mappings = [each.mapping for each in configs.values() if each.mapping is not None]
    spans = {
        (span.queue.broker_name, span.queue.queue_id): span
        for span in (await admin.queue_spans(topic)).spans
    }

    def piece(item: LogicQueueMappingItem) -> LogicalPiece:
        span = spans.get((item.broker_name, item.queue_id))
        if span is None:
            return LogicalPiece(item, None, None)
        return LogicalPiece(item, span.min, span.max)

    return {
        queue_id: [piece(item) for item in items]
        for (_broker, queue_id), items in pieces_of(mappings).items()
    }


async def _config(admin: Admin, topic: str, broker: BrokerData) -> TopicConfig | str:
    """Return a broker's configuration of the topic, or why there is none."""
    address = broker.any_address
    if address is None:
        return "no address"
    found = await admin.find_topic(topic, address, with_mapping=True)
    return f"{address} has no topic {topic!r}" if found is None else found
