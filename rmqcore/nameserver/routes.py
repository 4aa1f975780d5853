"""The routes of topics: what brokers have registered, and for how long that holds.

Theory. A broker registers its name, cluster, id and address, with all of its topics and
the data version of that table. Topics are accepted only when the version differs from
the one seen last, or when this address registers for the first time: a broker that
changes a topic and keeps its version changes nothing here.

A registration holds for 120 s, or for as long as the broker asks; it also ends with the
connection it came over, and when the broker unregisters. When the last address of a
broker name is gone, so are its queues; a topic without queues is unknown.

A first registration with exactly one topic is refused, as in RocketMQ: it looks like a
change of one topic that arrived after the broker had expired.

No IO and no clock: times are arguments in ms. The cost of a route grows with the number
of its brokers, that of an expiry scan with the number of registrations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rmqcore.model import (
    BrokerData,
    Perm,
    QueueData,
    TopicConfig,
    TopicRoute,
)
from rmqcore.model.route import MASTER_ID
from rmqcore.protocol.bodies import DataVersion

DEFAULT_EXPIRY_MS: Final = 120_000


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """A registering broker: cluster, name, broker id and address (`host:port`)."""

    cluster: str
    broker_name: str
    broker_id: int
    address: str


@dataclass(slots=True)
class _Registration:
    identity: BrokerIdentity
    version: DataVersion
    ha_address: str
    channel: Hashable
    expiry_ms: int
    last_update_ms: int


class RouteTable:
    """Brokers, clusters and topics as registered with one name server."""

    def __init__(self) -> None:
        self._alive: dict[tuple[str, str], _Registration] = {}
        self._addresses: dict[str, dict[int, str]] = {}
        self._cluster_of: dict[str, str] = {}
        self._clusters: dict[str, set[str]] = {}
        self._topics: dict[str, dict[str, QueueData]] = {}

    # Brokers

    def register(
        self,
        identity: BrokerIdentity,
        topics: Mapping[str, TopicConfig],
        version: DataVersion,
        *,
        channel: Hashable,
        now_ms: int,
        ha_address: str = "",
        expiry_ms: int | None = None,
    ) -> bool:
        """Accept a broker's registration; return False when it is refused."""
        name = identity.broker_name
        addresses = self._addresses.get(name, {})
        if identity.broker_id not in addresses and len(topics) == 1:
            return False
        known = self._alive.get(_key(identity))
        is_first = known is None or identity.broker_id not in addresses
        self._clusters.setdefault(identity.cluster, set()).add(name)
        self._cluster_of[name] = identity.cluster
        self._take_address(identity)
        if identity.broker_id == MASTER_ID:
            is_changed = known is None or known.version != version
            self._take_topics(name, topics, all_of_them=is_first or is_changed)
        self._alive[_key(identity)] = _Registration(
            identity,
            version,
            ha_address,
            channel,
            DEFAULT_EXPIRY_MS if expiry_ms is None else expiry_ms,
            now_ms,
        )
        return True

    def master_of(self, identity: BrokerIdentity) -> tuple[str, str] | None:
        """Return address and HA address of a slave's master, None for a master."""
        master = self._addresses.get(identity.broker_name, {}).get(MASTER_ID)
        if master is None or identity.broker_id == MASTER_ID:
            return None
        known = self._alive.get((identity.cluster, master))
        return master, "" if known is None else known.ha_address

    def renew(self, cluster: str, address: str, now_ms: int) -> None:
        """Accept a broker's light heartbeat."""
        known = self._alive.get((cluster, address))
        if known is not None:
            known.last_update_ms = now_ms

    def version_of(self, cluster: str, address: str) -> DataVersion | None:
        """Return the data version that a broker has registered, None when unknown."""
        known = self._alive.get((cluster, address))
        return None if known is None else known.version

    def unregister(self, identity: BrokerIdentity) -> None:
        """Forget one address of a broker, and the broker with its last address."""
        self._alive.pop(_key(identity), None)
        name = identity.broker_name
        addresses = self._addresses.get(name, {})
        if addresses.get(identity.broker_id) == identity.address:
            del addresses[identity.broker_id]
        if not addresses:
            self._forget_broker(name)

    def channel_closed(self, channel: Hashable) -> list[BrokerIdentity]:
        """Forget and return the brokers that registered over a lost connection."""
        gone = [r.identity for r in self._alive.values() if r.channel is channel]
        for identity in gone:
            self.unregister(identity)
        return gone

    def expire(self, now_ms: int) -> list[BrokerIdentity]:
        """Forget and return the brokers that were silent for too long."""
        gone = [
            registration.identity
            for registration in self._alive.values()
            if now_ms - registration.last_update_ms > registration.expiry_ms
        ]
        for identity in gone:
            self.unregister(identity)
        return gone

    def brokers(self) -> dict[str, BrokerData]:
        """Return every broker by name."""
        return {name: self._broker(name) for name in self._addresses}

    def clusters(self) -> dict[str, list[str]]:
        """Return the broker names of each cluster, sorted."""
        return {cluster: sorted(names) for cluster, names in self._clusters.items()}

    # Topics

    def route(self, topic: str) -> TopicRoute | None:
        """Return the route of a topic, None when no living broker has it."""
        queues = self._topics.get(topic)
        if not queues:
            return None
        brokers = [self._broker(name) for name in queues if name in self._addresses]
        if not brokers:
            return None
        return TopicRoute(tuple(brokers), tuple(queues.values()))

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        return list(self._topics)

    def topics_of_cluster(self, cluster: str) -> list[str]:
        """Return the names of the topics that a cluster's brokers have."""
        names = self._clusters.get(cluster, set())
        return [topic for topic, queues in self._topics.items() if names & set(queues)]

    def add_topic(self, topic: str, queues: Iterable[QueueData]) -> None:
        """Add queues of a topic on brokers that are registered."""
        table = self._topics.setdefault(topic, {})
        table.update(
            (q.broker_name, q) for q in queues if q.broker_name in self._addresses
        )
        if not table:
            del self._topics[topic]

    def delete_topic(self, topic: str, cluster: str | None = None) -> None:
        """Forget a topic, in one cluster or everywhere."""
        queues = self._topics.get(topic)
        if queues is None:
            return
        names = set(queues) if cluster is None else self._clusters.get(cluster, set())
        for name in names & set(queues):
            del queues[name]
        if not queues:
            del self._topics[topic]

    def set_writable(self, broker_name: str, writable: bool) -> int:
        """Take away or give back the write permission of a broker's topics.

        Return how many topics the broker has. The broker's next change undoes this.
        """
        count = 0
        for queues in self._topics.values():
            data = queues.get(broker_name)
            if data is not None:
                perm = data.perm | Perm.WRITE if writable else data.perm & ~Perm.WRITE
                queues[broker_name] = replace(data, perm=perm)
                count += 1
        return count

    # Private, in order of first use

    def _take_address(self, identity: BrokerIdentity) -> None:
        addresses = self._addresses.setdefault(identity.broker_name, {})
        # A slave that became master comes back with another id at the same address.
        for broker_id in [i for i, a in addresses.items() if a == identity.address]:
            del addresses[broker_id]
        addresses[identity.broker_id] = identity.address

    def _take_topics(
        self, broker_name: str, topics: Mapping[str, TopicConfig], *, all_of_them: bool
    ) -> None:
        for topic, config in topics.items():
            queues = self._topics.setdefault(topic, {})
            if all_of_them or broker_name not in queues:
                queues[broker_name] = QueueData(
                    broker_name,
                    config.read_queue_nums,
                    config.write_queue_nums,
                    config.perm,
                    config.topic_sys_flag,
                )

    def _forget_broker(self, name: str) -> None:
        self._addresses.pop(name, None)
        cluster = self._cluster_of.pop(name, None)
        if cluster is not None:
            names = self._clusters[cluster]
            names.discard(name)
            if not names:
                del self._clusters[cluster]
        for topic, queues in list(self._topics.items()):
            if queues.pop(name, None) is not None and not queues:
                del self._topics[topic]

    def _broker(self, name: str) -> BrokerData:
        addresses = dict(sorted(self._addresses[name].items()))
        return BrokerData(self._cluster_of[name], name, addresses)


def _key(identity: BrokerIdentity) -> tuple[str, str]:
    return identity.cluster, identity.address
