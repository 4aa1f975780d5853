"""Messages of a real Apache cluster: found in every way, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.admin import Admin
from rmqcore.admin.messages import MOST_PER_PULL
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.headers import GetTopicStatsInfoRequestHeader
from tests.support.apache import ApacheCluster
from tests.support.java_driver import JavaDriver
from tests.support.waiting import until_seen

pytestmark = pytest.mark.interop

TOPIC = "messages-found"
COUNT = 40


async def left(admin: Admin) -> list[Any]:
    """Return everything that a reader might leave: topics, groups, offsets."""
    names = sorted((await admin.cluster_info()).brokers)
    moved = GetTopicStatsInfoRequestHeader(topic="OFFSET_MOVED_EVENT")
    addresses = [str(broker.master) for broker in await admin.brokers()]
    return [
        await admin.topic_names(),
        await admin.group_configs(),
        [await admin.committed_on(name) for name in names],
        await admin.groups_of_topic(TOPIC),
        [
            (await admin._ask(each, RequestCode.GET_TOPIC_STATS_INFO, moved)).body
            for each in addresses
        ],
    ]


async def test_messages_are_found_and_nothing_is_left(
    apache: ApacheCluster, java: JavaDriver
) -> None:
    async with Admin(apache.nameserver) as admin:
        await admin.create_topic(TOPIC, 2)
        java.produce(TOPIC, COUNT, tag="red", key="k", orderly="true")
        before = await left(admin)
        found = []
        for span in (await admin.queue_spans(TOPIC)).spans:
            at = span.min
            while at < span.max:
                pulled = await admin.messages_at(span, at, MOST_PER_PULL)
                found += pulled.messages
                at = pulled.next_offset
            for outside in (span.max, span.max + 100, -1):
                assert not (await admin.messages_at(span, outside, 1)).messages
        assert len(found) == COUNT
        (one, *_rest) = found
        assert await admin.message_by_id(one.offset_msg_id) == one

        async def by_key() -> int:
            return len((await admin.messages_by_key(TOPIC, one.keys[0])).messages)

        # The index of a broker follows its log with some delay.
        await until_seen(by_key, lambda count: count > 0)
        by_id = await admin.messages_by_key(TOPIC, one.msg_id, unique=True)
        assert by_id.messages == (one,)
        assert await left(admin) == before
