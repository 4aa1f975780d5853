"""Calls about consumer groups and connected clients."""

from __future__ import annotations

from collections.abc import Sequence

from rmqcore.model import MessageModel
from rmqcore.model.topic import SubscriptionGroupConfig
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    ConsumerRunningInfo,
    ProducerInfo,
    QueryAssignment,
    QueueAssignment,
    decode_assignments,
    decode_consumer_connection,
    decode_consumer_ids,
    decode_consumer_running_info,
    decode_group_table,
    decode_producer_connection,
    decode_producer_table,
    encode_query_assignment,
    group_document,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.headers import (
    GetConsumerConnectionListRequestHeader,
    GetConsumerListByGroupRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetProducerConnectionListRequestHeader,
)

from .configuration import ConfigurationCalls
from .names import is_system_group

_OR_OFFLINE = (ResponseCode.SUCCESS, ResponseCode.CONSUMER_NOT_ONLINE)
_OR_NONE = (ResponseCode.SUCCESS, ResponseCode.SYSTEM_ERROR)
_RELAY_TIMEOUT_S = 12.0
"""A broker waits ten seconds for the client it relays a question to."""


class GroupCalls(ConfigurationCalls):
    """The questions and operations on consumer groups and clients."""

    async def group_configs(
        self, cluster: str | None = None
    ) -> dict[str, dict[str, SubscriptionGroupConfig]]:
        """Return each group's configuration by broker name, without system groups."""
        names, addresses = await self._addresses(cluster)
        answers = await self._ask_each(
            addresses, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        )
        groups: dict[str, dict[str, SubscriptionGroupConfig]] = {}
        for broker_name, answer in zip(names, answers, strict=True):
            for name, config in decode_group_table(answer.body).groups.items():
                if not is_system_group(name):
                    groups.setdefault(name, {})[broker_name] = config
        return dict(sorted(groups.items()))

    async def create_group(
        self, config: SubscriptionGroupConfig, *, cluster: str | None = None
    ) -> None:
        """Create or change a group on every broker of a cluster.

        What a broker keeps of the group beyond `config` stays as it is.
        """

        async def change(address: str) -> None:
            stored = (await self.group_documents(address)).get(config.group, {})
            await self.put_group_document(group_document(config, stored), address)

        await self._on_each(await self._masters(cluster), change)

    async def delete_group(
        self, group: str, *, cluster: str | None = None, clean_offset: bool = False
    ) -> None:
        """Delete a group on every broker of a cluster, and its offsets if wanted."""
        await self._on_each(
            await self._masters(cluster),
            lambda address: self.drop_group(group, address, clean_offset=clean_offset),
        )

    async def consumer_connection(
        self, group: str, broker_address: str
    ) -> ConsumerConnection | None:
        """Return a group's members as one broker knows them; None while offline."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_CONSUMER_CONNECTION_LIST,
            GetConsumerConnectionListRequestHeader(consumer_group=group),
            ok=_OR_OFFLINE,
        )
        if answer.code == ResponseCode.CONSUMER_NOT_ONLINE:
            return None
        return decode_consumer_connection(answer.body)

    async def client_ids(self, group: str, broker_address: str) -> Sequence[str]:
        """Return the client ids that one broker tells the members of a group."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP,
            GetConsumerListByGroupRequestHeader(consumer_group=group),
            ok=_OR_NONE,
        )
        if answer.code == ResponseCode.SYSTEM_ERROR:
            return ()
        return decode_consumer_ids(answer.body)

    async def query_assignment(
        self,
        group: str,
        topic: str,
        client_id: str,
        broker_address: str,
        *,
        strategy: str = "AVG",
        message_model: MessageModel = MessageModel.CLUSTERING,
    ) -> Sequence[QueueAssignment] | None:
        """Return the queues that a broker of 5.x would give one member now (400).

        The broker divides the topic's queues on the whole cluster among the members
        connected to it, by AVG or AVG_BY_CIRCLE. The result is None where it cannot
        tell: it knows no such topic, no member of the group is online, or the strategy
        is another one. Nothing is created and no queue changes hands. A queue handed
        out by POP has the id -1, for "all queues of that broker", where several members
        share it. Raises `ResponseError` 3 for a broker before 5.0, which has no such
        request.
        """
        query = QueryAssignment(client_id, group, topic, message_model, strategy)
        answer = await self._ask(
            broker_address,
            RequestCode.QUERY_ASSIGNMENT,
            body=encode_query_assignment(query),
        )
        return decode_assignments(answer.body)

    async def producer_connections(
        self, producer_group: str, broker_address: str
    ) -> Sequence[ClientConnection]:
        """Return a producer group's clients as one broker knows them."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_PRODUCER_CONNECTION_LIST,
            GetProducerConnectionListRequestHeader(producer_group=producer_group),
            ok=_OR_NONE,
        )
        if answer.code == ResponseCode.SYSTEM_ERROR:
            return ()
        return decode_producer_connection(answer.body)

    async def producers(self, broker_address: str) -> dict[str, list[ProducerInfo]]:
        """Return all producers connected to one broker, by group."""
        answer = await self._ask(broker_address, RequestCode.GET_ALL_PRODUCER_INFO)
        return decode_producer_table(answer.body)

    async def running_info(
        self, group: str, client_id: str, broker_address: str, *, jstack: bool = False
    ) -> ConsumerRunningInfo:
        """Return what one consumer says it is doing; the broker relays the question."""
        answer = await self._ask(
            broker_address,
            RequestCode.GET_CONSUMER_RUNNING_INFO,
            GetConsumerRunningInfoRequestHeader(
                consumer_group=group, client_id=client_id, jstack_enable=jstack
            ),
            timeout=_RELAY_TIMEOUT_S,
        )
        return decode_consumer_running_info(answer.body)
