"""Code 400: the division that a broker computes, Apache's beside ours."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.model import MessageModel
from tests.interop.sides import until_at_rest
from tests.support.jars import rocketmq_version
from tests.support.java_driver import JavaDriver
from tests.support.our_clients import OurCluster

from .conftest import PATIENT

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(
        rocketmq_version().startswith("4."), reason="4.x brokers divide nothing"
    ),
]

QUEUES_PER_BROKER = 5
ASKED = [
    (topic, group, member, strategy, model)
    for topic in ("{name}", "absent")
    for group in ("{name}", "nobody")
    for member in ("a", "b", "c", "d")
    for strategy in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "")
    for model in MessageModel
]
"""Topic, group, member (`d` is none), strategy and mode, known and unknown."""

Shares = dict[tuple[str, ...], list[tuple[str, str, int, str]] | None]


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[OurCluster]:
    with OurCluster(tmp_path, brokers=2) as cluster:
        yield cluster


@pytest.fixture
def guests(embedded: OurCluster, tmp_path: Path) -> Iterator[JavaDriver]:
    """Java clients connected to the embedded cluster."""
    with JavaDriver(embedded.nameserver, tmp_path / "guests") as driver:
        yield driver


@pytest.fixture
async def host(embedded: OurCluster) -> AsyncIterator[Admin]:
    async with Admin(embedded.nameserver, patience=PATIENT) as client:
        yield client


async def _all_shares(admin: Admin, name: str, members: dict[str, str]) -> Shares:
    """Ask every broker everything; client ids are shown by the members' letters."""
    (first, second) = [str(broker.master) for broker in await admin.brokers()]
    shares: Shares = {}
    for topic, group, member, strategy, model in ASKED:
        question = (
            group.format(name=name),
            topic.format(name=name),
            members.get(member, "10.0.0.1@elsewhere"),
        )
        answers = [
            await admin.query_assignment(
                *question, address, strategy=strategy, message_model=model
            )
            for address in (first, second)
        ]
        told = [
            None
            if answer is None
            else sorted(
                (q.queue.topic, q.queue.broker_name, q.queue.queue_id, q.mode)
                for q in answer
            )
            for answer in answers
        ]
        assert told[0] == told[1], question
        shares[topic, group, member, strategy, str(model)] = told[0]
    return shares


async def _shares_at_rest(admin: Admin, java: JavaDriver, name: str) -> Shares:
    await admin.create_topic(name, QUEUES_PER_BROKER)
    members = {
        letter: java.start_consumer(f"{name}-{letter}", group=name, topic=name)
        for letter in "abc"
    }

    async def heard() -> list[int]:
        addresses = [str(broker.master) for broker in await admin.brokers()]
        return [len(await admin.client_ids(name, each)) for each in addresses]

    await until_at_rest(heard, lambda counts: counts == [3, 3])
    shares = await _all_shares(admin, name, members)
    told = {
        letter: shares["{name}", "{name}", letter, "AVG", "CLUSTERING"]
        for letter in members
    }

    async def held() -> bool:
        return all(
            [queue[:3] for queue in told[letter] or []]
            == java.queues(f"{name}-{letter}")
            for letter in members
        )

    # What the broker tells is what the members compute for themselves.
    await until_at_rest(held, bool)
    return shares


async def test_our_broker_divides_as_apaches_does(
    admin: Admin, java: JavaDriver, host: Admin, guests: JavaDriver, name: str
) -> None:
    theirs = await _shares_at_rest(admin, java, name)
    ours = await _shares_at_rest(host, guests, name)
    assert ours == theirs
    assert {share is None for share in theirs.values()} == {True, False}
