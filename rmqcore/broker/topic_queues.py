"""The queues of a topic on the whole cluster, as a broker that divides them needs.

A broker knows only its own queues; the name servers know those of all brokers. They are
asked in turn until one answers, and asked anew each time: dividing queues that no
longer exist would be worse than asking. A broker without name servers uses its own
table.
"""

from __future__ import annotations

import logging
from typing import Final

from rmqcore.errors import RmqError
from rmqcore.model import MessageQueue, Perm, sorted_queues
from rmqcore.protocol.bodies import decode_topic_route
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import GetRouteInfoRequestHeader, encode_header
from rmqcore.transport import ChannelPool, raise_for_code

from .settings import BrokerSettings
from .topics import TopicTable

logger = logging.getLogger(__name__)

_TIMEOUT_S: Final = 3.0
_ANSWERED: Final = (ResponseCode.SUCCESS, ResponseCode.TOPIC_NOT_EXIST)


class TopicQueues:
    """Asks for the queues that consumers of a topic may read."""

    def __init__(
        self, settings: BrokerSettings, topics: TopicTable, pool: ChannelPool
    ) -> None:
        self._settings = settings
        self._topics = topics
        self._pool = pool

    async def readable(self, topic: str) -> list[MessageQueue] | None:
        """Return the queues, sorted; None where none are known."""
        if not self._settings.name_servers:
            return self._own(topic)
        for address in self._settings.name_servers:
            try:
                return await self._ask(address, topic)
            except RmqError as error:
                logger.warning(
                    "broker=%s nameserver=%s route of %s: %s",
                    self._settings.name,
                    address,
                    topic,
                    error,
                )
        return None

    async def _ask(self, address: str, topic: str) -> list[MessageQueue] | None:
        code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        header = GetRouteInfoRequestHeader(topic=topic, accept_standard_json_only=True)
        answer = await self._pool.request(
            address, RemotingCommand.request(code, encode_header(header)), _TIMEOUT_S
        )
        raise_for_code(answer, request_code=code, address=address, ok=_ANSWERED)
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        return sorted_queues(decode_topic_route(answer.body).subscribe_queues(topic))

    def _own(self, topic: str) -> list[MessageQueue] | None:
        config = self._topics.get(topic)
        if config is None:
            return None
        if Perm.READ not in config.perm:
            return []
        return [
            MessageQueue(topic, self._settings.name, queue_id)
            for queue_id in range(config.read_queue_nums)
        ]
