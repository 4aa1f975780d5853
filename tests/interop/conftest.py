"""One real Apache RocketMQ of two brokers, and one JVM of clients, for the session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from tests.support.apache import ApacheCluster, start_cluster
from tests.support.java_driver import JavaDriver
from tests.support.java_members import TEST_SECONDS
from tests.support.our_clients import OurCluster

from .sides import PATIENT, Side

_NUMBERS = count(1)
_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each test here wait for as long as Java's members may need."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


@pytest.fixture(scope="session")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheCluster]:
    """The cluster that all interop tests share; each uses names of its own."""
    directory = tmp_path_factory.mktemp("apache")
    with start_cluster(directory, brokers=2) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def java(
    apache: ApacheCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaDriver]:
    """Java clients connected to the Apache cluster."""
    with JavaDriver(apache.nameserver, tmp_path_factory.mktemp("java")) as driver:
        yield driver


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OurCluster]:
    """Our cluster of two brokers, in a process of its own, shared like Apache's."""
    with OurCluster(tmp_path_factory.mktemp("embedded"), brokers=2) as cluster:
        yield cluster


@pytest.fixture(params=["apache", "embedded"])
def side(request: pytest.FixtureRequest, java: JavaDriver) -> Side:
    """Each kind of cluster in turn, with the one JVM of Java clients."""
    cluster: ApacheCluster | OurCluster = request.getfixturevalue(request.param)
    return Side(cluster.nameserver, java)


@pytest.fixture
async def admin(apache: ApacheCluster) -> AsyncIterator[Admin]:
    """Our admin client, attached to the Apache cluster."""
    async with Admin(apache.nameserver, timeout=20, patience=PATIENT) as client:
        yield client


@pytest.fixture
def name() -> str:
    """A name that no other test of the session uses, for a topic, group or client."""
    return f"interop{next(_NUMBERS)}"
