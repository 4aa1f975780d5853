"""Name servers beside each other, on a real embedded cluster."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from dashboard.gateway.name_servers import ask_name_servers, said_of
from rmqcore.model import Perm, QueueData, TopicRoute
from rmqcore.nameserver.server import NameServer
from tests.support.cluster import TOPIC, local_cluster, settings_of


async def test_what_only_one_name_server_knows_is_a_difference() -> None:
    other = NameServer()
    await other.start()
    async with local_cluster() as running:
        full, empty = running.nameserver_address, other.address
        cluster = replace(
            settings_of(running), name_servers=(full, empty, "127.0.0.1:1")
        )
        found = await asyncio.to_thread(ask_name_servers, cluster)
    await other.stop()
    kinds = {(each.kind, each.name): each.said for each in found.differences}
    assert kinds["topic", TOPIC] == {full: "✓", empty: None}
    (broker,) = (name for kind, name in kinds if kind == "broker")
    assert kinds["broker", broker][empty] is None
    silent = [view.address for view in found.views if view.error]
    assert silent == ["127.0.0.1:1"]


def test_a_route_is_said_in_one_line() -> None:
    queues = (QueueData("b", 4, 8, Perm.READ), QueueData("a", 1, 1, Perm.READ))
    assert said_of(TopicRoute(queues=queues, brokers=())) == "a: 1/1 (4); b: 4/8 (4)"
    assert said_of(None) is None
