"""Calls about topics: which ones exist, where they are, what they hold."""

from __future__ import annotations

from rmqcore.model.queue import MessageQueue
from rmqcore.model.route import TopicRoute
from rmqcore.model.topic import Perm, TopicConfig
from rmqcore.protocol.bodies import (
    TopicOffset,
    decode_group_list,
    decode_topic_list,
    decode_topic_route,
    decode_topic_stats,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.headers import (
    GetRouteInfoRequestHeader,
    GetTopicStatsInfoRequestHeader,
    QueryTopicConsumeByWhoRequestHeader,
)

from .caller import positive
from .configuration import ConfigurationCalls

_OR_ABSENT = (ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST)


class TopicCalls(ConfigurationCalls):
    """The questions and operations on topics."""

    async def topic_names(self) -> list[str]:
        """Return every topic that the name server knows, RocketMQ's own included."""
        answer = await self._ask_nameserver(
            RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        )
        return sorted(decode_topic_list(answer.body))

    async def topic_route(self, topic: str) -> TopicRoute:
        """Return a topic's route; raise `ResponseError` 17 where no broker has it."""
        answer = await self._ask_nameserver(
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=True),
        )
        return decode_topic_route(answer.body)

    async def create_topic(
        self,
        topic: str,
        queues: int = 8,
        *,
        cluster: str | None = None,
        broker_name: str | None = None,
        perm: Perm = Perm.READ | Perm.WRITE,
        order: bool = False,
    ) -> None:
        """Create or change a topic on every broker of a cluster, or on one broker.

        `queues` is the number of queues on each broker, for reading and writing.
        """
        positive("queues", queues)
        config = TopicConfig(topic, queues, queues, perm, order=order)
        await self._on_each(
            await self._masters(cluster, broker_name),
            lambda address: self.put_topic(config, address),
        )

    async def delete_topic(self, topic: str, *, cluster: str | None = None) -> None:
        """Delete a topic on every broker of a cluster, then at every name server."""
        await self._on_each(
            await self._masters(cluster),
            lambda address: self.drop_topic(topic, address),
        )
        told = await self.drop_routes(topic, cluster)
        for error in filter(None, told.values()):
            raise error

    async def topic_stats(self, topic: str) -> dict[MessageQueue, TopicOffset]:
        """Return the offsets of a topic's queues on all of its brokers."""
        answers = await self._ask_each(
            await self._topic_brokers(topic),
            RequestCode.GET_TOPIC_STATS_INFO,
            GetTopicStatsInfoRequestHeader(topic=topic),
        )
        stats: dict[MessageQueue, TopicOffset] = {}
        for answer in answers:
            stats.update(decode_topic_stats(answer.body).by_queue())
        return dict(sorted(stats.items()))

    async def groups_of_topic(self, topic: str) -> list[str]:
        """Return the groups that consume a topic or have committed offsets on it."""
        answers = await self._ask_each(
            await self._topic_brokers(topic),
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
            QueryTopicConsumeByWhoRequestHeader(topic=topic),
            ok=_OR_ABSENT,
        )
        return sorted(
            {
                group
                for answer in answers
                if answer.body
                for group in decode_group_list(answer.body)
            }
        )

    async def _topic_brokers(self, topic: str) -> list[str]:
        route = await self.topic_route(topic)
        addresses = (broker.any_address for broker in route.brokers)
        return [address for address in addresses if address is not None]
