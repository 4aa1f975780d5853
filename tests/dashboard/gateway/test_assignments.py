"""The broker's own division beside ours, on a real embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dashboard.gateway.assignments import NoDivisionError, ask_division
from dashboard.gateway.settings import ClusterSettings
from dashboard.whatif.model import to_entries
from dashboard.whatif.verification import verify
from rmqcore.allocation import allocate_group
from rmqcore.cluster import LocalCluster
from rmqcore.model import MessageQueue
from tests.dashboard.documents import group_state, member, queue
from tests.support.cluster import TOPIC, join, local_cluster, settings_of
from tests.support.waiting import eventually

IDS = [f"10.0.0.1@c{number}" for number in (1, 2, 3)]


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """A cluster on which three members divide sixteen queues."""
    async with local_cluster() as running:
        consumers = [await join(running, f"c{number}") for number in (1, 2, 3)]

        async def shares() -> list[int]:
            return [
                sum(queue.topic == TOPIC for queue in each.queues) for each in consumers
            ]

        await eventually(shares, [6, 5, 5])
        yield running
        for each in consumers:
            await each.shutdown()


def document(broker: str) -> Any:
    members = [member(at, client_id=each) for at, each in enumerate(IDS)]
    rows = [queue(broker, number, topic=TOPIC, owners=[]) for number in range(16)]
    return group_state(members, rows, cluster="east", group="billing")


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE"])
async def test_brokers_divide_as_we_compute(
    cluster: LocalCluster, settings: Any, strategy: str
) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {"east": settings_of(cluster)}
    division = await asyncio.to_thread(
        ask_division,
        settings.ROCKETSCOPE_CLUSTERS["east"],
        "billing",
        topics=[TOPIC],
        client_ids=IDS,
        strategy=strategy,
    )
    (broker,) = {each.broker_name for share in division.values() for each in share}
    queues = [MessageQueue(TOPIC, broker, number) for number in range(16)]
    ours = allocate_group(strategy, group="billing", queues=queues, client_ids=IDS)
    for client_id in IDS:
        assert to_entries(division[client_id]) == to_entries(ours.by_client[client_id])
    found = await asyncio.to_thread(verify, document(broker), strategy)
    assert (found.agrees, found.queues) == (True, 16)
    # A member that the broker does not know makes ours another division.
    state = document(broker)
    state["members"].append(member(9, client_id="10.0.0.9@gone"))
    other = await asyncio.to_thread(verify, state, strategy)
    assert other.differences


@pytest.mark.django_db(transaction=True)
async def test_what_cannot_be_asked_is_said(
    cluster: LocalCluster, settings: Any
) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {"east": settings_of(cluster)}
    state = document("broker-a")
    found = await asyncio.to_thread(verify, state, "CONSISTENT_HASH")
    assert "not by CONSISTENT_HASH" in found.problem
    assert (await asyncio.to_thread(verify, state, "FAIR")).problem
    other: Any = {**state, "cluster": "west"}
    assert (await asyncio.to_thread(verify, other, "AVG")).problem
    state["queues"][0]["topic"] = "unheard-of"
    found = await asyncio.to_thread(verify, state, "AVG")
    assert "no division of 'unheard-of'" in found.problem


def test_too_many_questions_are_not_asked(settings: Any) -> None:
    nowhere = ClusterSettings("east", ("127.0.0.1:9",))
    ids = [str(number) for number in range(401)]
    with pytest.raises(NoDivisionError, match=r"401 questions .* limit 400"):
        ask_division(nowhere, "g", topics=["t"], client_ids=ids, strategy="AVG")
    with pytest.raises(NoDivisionError, match=r"127\.0\.0\.1:9"):
        ask_division(nowhere, "g", topics=["t"], client_ids=["c"], strategy="AVG")
