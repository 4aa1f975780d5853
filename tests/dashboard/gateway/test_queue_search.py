"""Searches that are cut short, and brokers that do not answer, on a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from dashboard.gateway.queue_search import (
    Budget,
    Cut,
    QueueSearch,
    Span,
    bounded,
    with_silent,
    within,
)
from rmqcore.admin import Admin
from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageQueue

TOPIC = "orders"
BODY = b"x" * 1_000
QUEUE = MessageQueue(TOPIC, "broker-a", 0)


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """Two brokers of one queue, with sixty messages of 1,000 bytes on the first."""
    async with LocalCluster(brokers=2) as cluster:
        await cluster.create_topic(TOPIC, 1)
        producer = Producer(cluster.nameserver_address, group="p")
        await producer.start()
        for _ in range(60):
            await producer.send(Message.of(TOPIC, BODY), queue=QUEUE)
        await producer.shutdown()
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    async with Admin(cluster.nameserver_address) as admin:
        yield admin


@pytest.mark.parametrize("messages", [1, 20, 45])
async def test_a_search_that_ends_early_has_the_newest_without_gaps(
    admin: Admin, messages: int
) -> None:
    search = await QueueSearch.of(admin, TOPIC)
    search.budget = Budget(messages * len(BODY))
    found = await search.newest([await admin.queue_span(QUEUE)], 500)
    offsets = [each.queue_offset for each in found.messages]
    assert offsets == list(range(59, 59 - len(offsets), -1))
    assert offsets
    assert found.cuts == [Cut("bytes", "broker-a / 0")]


async def test_a_search_from_the_beginning_that_ends_early_has_the_oldest(
    admin: Admin,
) -> None:
    search = await QueueSearch.of(admin, TOPIC)
    search.budget = Budget(len(BODY))
    span = await admin.queue_span(QUEUE)
    found = await search.newest([span], 500, forwards=True)
    assert found.messages[-1].queue_offset == 0


async def test_the_time_of_a_search_begins_when_it_reads(admin: Admin) -> None:
    search = await QueueSearch.of(admin, TOPIC, seconds=0)
    assert search.ended is None
    found = await search.newest([await admin.queue_span(QUEUE)], 500)
    assert found.cuts == [Cut("time", "broker-a / 0")]


async def test_a_broker_that_does_not_answer_loses_only_its_own_queues(
    cluster: LocalCluster, admin: Admin
) -> None:
    route = await admin.topic_route(TOPIC)
    spans = await admin.queue_spans(TOPIC)
    # Both queues have something to look for.
    spans = replace(spans, spans=tuple(replace(e, max=60) for e in spans.spans))
    await cluster.kill_broker("broker-b")
    found = await bounded(
        spans, lambda each: within(admin, each, Span(begin_ms=1), route)
    )
    assert [each.queue for each in found.spans] == [QUEUE]
    assert list(found.failed) == ["broker-b / 0"]


async def test_a_silent_broker_counts_only_where_the_route_has_lost_it(
    admin: Admin,
) -> None:
    route = await admin.topic_route(TOPIC)
    silent = {"broker-a": "late", "broker-z": "gone"}
    assert with_silent(route, {}, silent) == {"broker-z": "gone"}
