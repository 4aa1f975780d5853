"""The routes of topics and brokers that a client knows: a table without IO.

The name servers' answers go in; questions are answered from memory. A topic that name
servers no longer know keeps its last route: a name server that has just restarted must
not stop consumers that still reach their brokers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rmqcore.errors import RouteError
from rmqcore.model import BrokerData, MessageQueue, TopicRoute
from rmqcore.model.route import MASTER_ID

DEFAULT_TOPIC_QUEUE_NUMS: Final = 4
"""Queues that a producer asks for when its topic has to be created."""


class RouteTable:
    """Routes by topic, and the brokers they name."""

    def __init__(self) -> None:
        self._routes: dict[str, TopicRoute] = {}
        self._stand_ins: dict[str, TopicRoute] = {}
        self._brokers: dict[str, BrokerData] = {}
        self._publish: dict[str, list[MessageQueue]] = {}
        self._leaders: dict[MessageQueue, str] = {}

    def update(self, topic: str, route: TopicRoute) -> bool:
        """Store a route; return True when it differs from the one known."""
        before = self._routes.get(topic)
        if before == route:
            return False
        if before is not None and before.mappings:
            for queue in before.leaders(topic):
                self._leaders.pop(queue, None)
        self._leaders.update(route.leaders(topic))
        self._routes[topic] = route
        self._stand_ins.pop(topic, None)
        self._publish[topic] = route.publish_queues(topic)
        self._collect_brokers()
        return True

    def publish_like(self, topic: str, default: TopicRoute, limit: int) -> None:
        """Publish `topic`, unknown so far, to the brokers of the default topic.

        The broker creates the topic at the first message, with at most `limit` queues.
        """
        self._stand_ins[topic] = default
        self._publish[topic] = [
            queue for queue in default.publish_queues(topic) if queue.queue_id < limit
        ]
        self._collect_brokers()

    def known(self, topic: str) -> bool:
        """Tell whether a name server has told us a route for the topic."""
        return topic in self._routes

    def subscribe_queues(self, topic: str) -> list[MessageQueue] | None:
        """Return the readable queues of a topic, None while its route is unknown."""
        route = self._routes.get(topic)
        return None if route is None else route.subscribe_queues(topic)

    def publish_queues(self, topic: str) -> list[MessageQueue]:
        """Return the writable queues of a topic, empty while unknown."""
        return self._publish.get(topic, [])

    def publish_topics(self) -> Iterable[str]:
        """Return the topics that messages have been sent to, or could be."""
        return self._publish.keys()

    def brokers_of(self, topic: str) -> tuple[BrokerData, ...]:
        """Return the brokers of a topic, empty while its route is unknown."""
        route = self._routes.get(topic)
        return () if route is None else route.brokers

    @property
    def brokers(self) -> Iterable[BrokerData]:
        """Return every broker that any route names."""
        return self._brokers.values()

    def broker_name(self, queue: MessageQueue) -> str:
        """Return the broker to ask about a queue: of a logical one, its leader."""
        return self._leaders.get(queue, queue.broker_name)

    def master(self, queue: MessageQueue) -> str:
        """Return the master's address; raise `RouteError` when there is none."""
        broker_name = self.broker_name(queue)
        broker = self._brokers.get(broker_name)
        if broker is None or broker.master is None:
            raise RouteError(f"broker {broker_name}: no master is known")
        return broker.master

    def address(self, queue: MessageQueue, broker_id: int = MASTER_ID) -> str:
        """Return the address for that id, else the next best one of the same broker."""
        broker_name = self.broker_name(queue)
        broker = self._brokers.get(broker_name)
        address = None if broker is None else broker.addresses.get(broker_id)
        if address is None and broker is not None:
            address = broker.any_address
        if address is None:
            raise RouteError(f"broker {broker_name}: no address is known")
        return address

    def _collect_brokers(self) -> None:
        # Made anew, so that a broker which has left every route is forgotten.
        self._brokers = {
            broker.broker_name: broker
            for routes in (self._stand_ins, self._routes)
            for route in routes.values()
            for broker in route.brokers
        }
