"""Calls that read and change configuration on one broker, or at every name server.

Each broker of a cluster keeps its own configuration, so these calls go to one address,
and the caller sees which of several was reached. What is written is the whole
configuration of a topic or group: members that this program does not know are kept by
passing on the document that the broker itself has sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from rmqcore.errors import BodyError, RmqError
from rmqcore.model.topic import TopicConfig
from rmqcore.protocol.bodies import (
    decode_group_list,
    decode_topic_config,
    decode_topic_config_table,
    decode_topic_stats,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.fastjson import dumps, loads
from rmqcore.protocol.headers import (
    AddWritePermOfBrokerRequestHeader,
    CreateTopicRequestHeader,
    DeleteSubscriptionGroupRequestHeader,
    DeleteTopicFromNamesrvRequestHeader,
    DeleteTopicRequestHeader,
    GetTopicConfigRequestHeader,
    GetTopicStatsInfoRequestHeader,
    QueryTopicConsumeByWhoRequestHeader,
    WipeWritePermOfBrokerRequestHeader,
    encode_header,
)
from rmqcore.protocol.headers.codec import Header
from rmqcore.transport.responses import raise_for_code

from .brokers import BrokerCalls

_TOPIC_OR_NONE: Final = (
    ResponseCode.SUCCESS,
    ResponseCode.TOPIC_NOT_EXIST,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
)
_OR_ABSENT: Final = (ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST)

Told = Mapping[str, RmqError | None]
"""By name server: None where it did as asked, otherwise the error."""


class ConfigurationCalls(BrokerCalls):
    """Reads and changes the configuration of topics, groups and brokers."""

    async def find_topic(
        self, topic: str, broker_address: str, *, with_mapping: bool = False
    ) -> TopicConfig | None:
        """Return a topic's configuration on one broker, or None if it has none.

        With `with_mapping`, that of a static topic has its logical queues.
        A broker that does not know the request for one topic is asked for all.
        """
        answer = await self._ask(
            broker_address,
            RequestCode.GET_TOPIC_CONFIG,
            GetTopicConfigRequestHeader(topic=topic, static_topic=with_mapping or None),
            ok=_TOPIC_OR_NONE,
        )
        if answer.code == ResponseCode.SUCCESS:
            return decode_topic_config(answer.body)
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        table = await self._ask(broker_address, RequestCode.GET_ALL_TOPIC_CONFIG)
        return decode_topic_config_table(table.body).topics.get(topic)

    async def put_topic(
        self,
        config: TopicConfig,
        broker_address: str,
        *,
        removed: tuple[str, ...] = (),
    ) -> None:
        """Create a topic on one broker, or replace its configuration there.

        Its attributes are set; others that the topic has stay, except for those
        `removed`. Brokers before 5.0 ignore attributes.
        """
        await self._ask(
            broker_address,
            RequestCode.UPDATE_AND_CREATE_TOPIC,
            CreateTopicRequestHeader.of(config, removed),
        )

    async def drop_topic(self, topic: str, broker_address: str) -> None:
        """Delete a topic with its queues on one broker."""
        await self._ask(
            broker_address,
            RequestCode.DELETE_TOPIC_IN_BROKER,
            DeleteTopicRequestHeader(topic=topic),
        )

    async def drop_routes(self, topic: str, cluster: str | None) -> Told:
        """Make every name server forget a topic's routes, to one cluster or to all."""
        header = DeleteTopicFromNamesrvRequestHeader(topic=topic, cluster_name=cluster)
        return await self._tell_nameservers(RequestCode.DELETE_TOPIC_IN_NAMESRV, header)

    async def stored_messages(self, topic: str, broker_address: str) -> int | None:
        """Return how many messages a broker holds of a topic; None without the topic.

        Messages that compaction or a static topic hides are counted too.
        """
        answer = await self._ask(
            broker_address,
            RequestCode.GET_TOPIC_STATS_INFO,
            GetTopicStatsInfoRequestHeader(topic=topic),
            ok=(*_OR_ABSENT, ResponseCode.SYSTEM_ERROR),
        )
        if answer.code != ResponseCode.SUCCESS:
            return None
        stats = decode_topic_stats(answer.body).by_queue().values()
        return sum(max(0, each.max_offset - each.min_offset) for each in stats)

    async def groups_reading(self, topic: str, broker_address: str) -> list[str]:
        """Return the groups that read a topic on one broker, or have offsets there."""
        answer = await self._ask(
            broker_address,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO,
            QueryTopicConsumeByWhoRequestHeader(topic=topic),
            ok=_OR_ABSENT,
        )
        return sorted(decode_group_list(answer.body)) if answer.body else []

    async def group_documents(self, broker_address: str) -> dict[str, dict[str, Any]]:
        """Return every group's configuration on one broker, as the broker wrote it."""
        answer = await self._ask(
            broker_address, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        )
        body = loads(answer.body)
        table = body.get("subscriptionGroupTable") if isinstance(body, dict) else None
        if not isinstance(table, dict):
            raise BodyError(f"{broker_address} sent no table of groups")
        return table

    async def put_group_document(
        self, document: Mapping[str, Any], broker_address: str
    ) -> None:
        """Create a group on one broker, or replace its configuration there.

        `attributes` in the document are changes, `{"+key": "value"}`: a broker keeps
        those that are not named.
        """
        await self._ask(
            broker_address,
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
            body=dumps(dict(document)),
        )

    async def drop_group(
        self, group: str, broker_address: str, *, clean_offset: bool
    ) -> None:
        """Delete a group on one broker, and its committed offsets if wanted."""
        await self._ask(
            broker_address,
            RequestCode.DELETE_SUBSCRIPTIONGROUP,
            DeleteSubscriptionGroupRequestHeader(
                group_name=group, clean_offset=clean_offset
            ),
        )

    async def change_broker_settings(
        self, values: Mapping[str, str], broker_address: str
    ) -> None:
        """Change settings of a running broker, which keeps them in its own file.

        A broker also accepts names and values that it uses only after its next start,
        or never.
        """
        text = "\n".join(f"{name}={value}" for name, value in values.items())
        await self._ask(
            broker_address, RequestCode.UPDATE_BROKER_CONFIG, body=text.encode()
        )

    async def set_writing(
        self,
        broker_name: str,
        *,
        allowed: bool,
        nameservers: Sequence[str] | None = None,
    ) -> Told:
        """Stop producers from choosing a broker's queues, or allow it again.

        Name servers take the permission to write out of the routes that they give, or
        put it back; they forget it when they restart, or when the broker registers a
        changed topic. Only the given name servers are told, or else all of them.
        """
        if allowed:
            return await self._tell_nameservers(
                RequestCode.ADD_WRITE_PERM_OF_BROKER,
                AddWritePermOfBrokerRequestHeader(broker_name=broker_name),
                nameservers,
            )
        return await self._tell_nameservers(
            RequestCode.WIPE_WRITE_PERM_OF_BROKER,
            WipeWritePermOfBrokerRequestHeader(broker_name=broker_name),
            nameservers,
        )

    async def topics_on(self, broker_address: str) -> Mapping[str, TopicConfig]:
        """Return every topic of one broker, RocketMQ's own included."""
        answer = await self._ask(broker_address, RequestCode.GET_ALL_TOPIC_CONFIG)
        return decode_topic_config_table(answer.body).topics

    async def _tell_nameservers(
        self,
        code: RequestCode,
        header: Header,
        nameservers: Sequence[str] | None = None,
    ) -> Told:
        """Tell them side by side, whether or not one of them fails."""
        command = RemotingCommand.request(code, encode_header(header))

        async def tell(address: str) -> RmqError | None:
            try:
                answer = await self._pool.request(address, copy(command), self._timeout)
                raise_for_code(answer, request_code=code, address=address)
            except RmqError as error:
                return error
            return None

        addresses = self.nameservers if nameservers is None else nameservers
        outcomes = await asyncio.gather(*map(tell, addresses))
        return dict(zip(addresses, outcomes, strict=True))
