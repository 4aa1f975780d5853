"""Calls about brokers as machines, and about what each name server says by itself."""

from __future__ import annotations

from typing import Final

from rmqcore.model.route import TopicRoute
from rmqcore.protocol.bodies import (
    ClusterInfo,
    HaStatus,
    decode_cluster_info,
    decode_ha_status,
    decode_kv_table,
    decode_topic_list,
    decode_topic_route,
)
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.headers import (
    GetRouteInfoRequestHeader,
)

from .caller import Caller

_OR_NO_ROUTE: Final = (ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST)


class BrokerCalls(Caller):
    """The questions to one broker, or to one name server, by its address."""

    @property
    def nameservers(self) -> tuple[str, ...]:
        """The name servers that were given, whether they answer or not."""
        return tuple(self._nameservers.addresses)

    async def broker_runtime(self, broker_address: str) -> dict[str, str]:
        """Return a broker's own measurements, as the broker words them (28)."""
        answer = await self._ask(broker_address, RequestCode.GET_BROKER_RUNTIME_INFO)
        return decode_kv_table(answer.body)

    async def broker_settings(self, broker_address: str) -> dict[str, str]:
        """Return a broker's settings by their names (26); secrets are among them."""
        answer = await self._ask(broker_address, RequestCode.GET_BROKER_CONFIG)
        lines = answer.body.decode("utf-8", "replace").splitlines()
        pairs = (line.partition("=") for line in lines if "=" in line)
        return {name.strip(): value.strip() for name, _, value in pairs}

    async def ha_status(self, broker_address: str) -> HaStatus:
        """Return which slaves a master has, and how far each follows (907).

        Raises `ResponseError` 3 for a broker before 5.0, which has no such request.
        """
        answer = await self._ask(broker_address, RequestCode.GET_BROKER_HA_STATUS)
        return decode_ha_status(answer.body)

    async def brokers_named_by(self, nameserver: str) -> ClusterInfo:
        """Return the brokers that one name server knows (106)."""
        answer = await self._ask(nameserver, RequestCode.GET_BROKER_CLUSTER_INFO)
        return decode_cluster_info(answer.body)

    async def topics_named_by(self, nameserver: str) -> frozenset[str]:
        """Return the topics that one name server knows (206)."""
        answer = await self._ask(
            nameserver, RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
        )
        return frozenset(decode_topic_list(answer.body))

    async def route_named_by(self, nameserver: str, topic: str) -> TopicRoute | None:
        """Return a topic's route as one name server has it (105), None without one."""
        answer = await self._ask(
            nameserver,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=True),
            ok=_OR_NO_ROUTE,
        )
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        return decode_topic_route(answer.body)
