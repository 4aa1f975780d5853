"""What a topic's page asks a cluster on request: route, configuration, producers.

A broker that refuses or is silent is told by its own error; the others are told all the
same. Brokers do not know which topics a producer sends to, so the producers are all
those that are connected to a broker of the topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from rmqcore.model.route import TopicRoute
from rmqcore.model.topic import TopicConfig

from .asking import ask
from .settings import ClusterSettings


@dataclass(frozen=True, slots=True)
class ConnectedProducer:
    """A producer of some group, and when it last sent a heartbeat (ms), by broker."""

    client_id: str
    group: str
    language: str
    address: str
    heard_ms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TopicAnswers:
    """The answers by broker name; `errors` says why one of a broker is missing."""

    route: TopicRoute
    configs: Mapping[str, TopicConfig]
    producers: Sequence[ConnectedProducer]
    errors: Mapping[str, str]


def ask_topic(cluster: ClusterSettings, topic: str) -> TopicAnswers:
    """Ask name server and brokers; raise RmqError where there is no route."""
    return ask(cluster, lambda admin: _ask(admin, topic))


async def _ask(admin: Admin, topic: str) -> TopicAnswers:
    route = await admin.topic_route(topic)
    configs: dict[str, TopicConfig] = {}
    found: dict[tuple[str, str], ConnectedProducer] = {}
    errors: dict[str, str] = {}
    for broker in route.brokers:
        address, name = broker.any_address, broker.broker_name
        if address is None:
            errors[name] = "no address"
            continue
        try:
            configs[name] = await admin.topic_config(topic, address)
            await _producers(admin, name, address, found)
        except (RmqError, OSError) as error:
            errors[name] = str(error)
    listed = sorted(found.values(), key=lambda each: (each.group, each.client_id))
    return TopicAnswers(route, configs, listed, errors)


async def _producers(
    admin: Admin,
    broker: str,
    address: str,
    found: dict[tuple[str, str], ConnectedProducer],
) -> None:
    for group, producers in (await admin.producers(address)).items():
        for each in producers:
            key = group, each.client_id
            heard = dict(found[key].heard_ms) if key in found else {}
            heard[broker] = each.last_update_timestamp
            found[key] = ConnectedProducer(
                each.client_id, group, each.language, each.remote_ip, heard
            )
