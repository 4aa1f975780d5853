"""A real cluster on loopback, and clients that leave it when a test ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster

from .joining import Clients


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """One name server and one broker, with the topic T of four queues."""
    async with LocalCluster() as running:
        await running.create_topic("T", 4)
        yield running


@pytest.fixture
async def clients(cluster: LocalCluster) -> AsyncIterator[Clients]:
    """Makes consumers and producers of the cluster."""
    made = Clients(cluster.nameserver_address)
    yield made
    await made.shut_down()


@pytest.fixture
async def producer(clients: Clients) -> Producer:
    """A producer that has been started."""
    return await clients.producer()
