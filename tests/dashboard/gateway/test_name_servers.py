"""Name servers beside each other, on a real embedded cluster."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from dashboard.gateway.name_servers import ask_name_servers, compare, said_of
from rmqcore.admin import Admin
from rmqcore.model import Perm, QueueData, TopicRoute
from rmqcore.nameserver.server import NameServer
from rmqcore.protocol.bodies import encode_topic_list, encode_topic_route
from rmqcore.protocol.codes import RequestCode as Code
from tests.rmqcore.admin.scripted import ScriptedNameServer
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


async def test_a_route_that_one_did_not_tell_is_not_counted_as_compared() -> None:
    async with ScriptedNameServer() as one, ScriptedNameServer() as other:
        for each in (one, other):
            each.answers[Code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER] = lambda asked: (
                asked.response(body=encode_topic_list([TOPIC]))
            )
        one.answers[Code.GET_ROUTEINFO_BY_TOPIC] = lambda asked: asked.response(
            body=encode_topic_route(TopicRoute(queues=(), brokers=()))
        )
        async with Admin([one.address, other.address]) as admin:
            found = await compare(admin)
    assert (found.answered, found.compared, found.topics) == (2, 0, 1)


def test_a_route_is_said_in_one_line() -> None:
    queues = (QueueData("b", 4, 8, Perm.READ), QueueData("a", 1, 1, Perm.READ))
    assert said_of(TopicRoute(queues=queues, brokers=())) == "a: 1/1 (4); b: 4/8 (4)"
    assert said_of(None) is None
