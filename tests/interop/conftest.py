"""A real Apache RocketMQ of two brokers, and one JVM of clients, for the session.

There is one of each version that a test asks for: the version under test, and for tests
that say so (`versions.OLDER_TOO`) the oldest that RocketScope attaches to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from tests.support.apache import BRIEF, ApacheCluster, start_cluster
from tests.support.jars import rocketmq_version
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


_APACHES = pytest.StashKey["Apaches"]()


class Apaches:
    """The clusters and JVMs of the session by version, started when asked for."""

    def __init__(self, directories: pytest.TempPathFactory) -> None:
        self._directories = directories
        self._running = ExitStack()
        self._clusters: dict[str, ApacheCluster] = {}
        self._drivers: dict[str, JavaDriver] = {}

    def cluster(self, version: str) -> ApacheCluster:
        """Return the cluster that all tests share; each uses names of its own."""
        if version not in self._clusters:
            directory = self._directories.mktemp("apache")
            cluster = start_cluster(
                directory, brokers=2, version=version, jvm_options=BRIEF
            )
            self._clusters[version] = self._running.enter_context(cluster)
        return self._clusters[version]

    def java(self, version: str) -> JavaDriver:
        """Return Java clients of the same version, connected to the cluster."""
        if version not in self._drivers:
            driver = JavaDriver(
                self.cluster(version).nameserver,
                self._directories.mktemp("java"),
                version=version,
            )
            self._drivers[version] = self._running.enter_context(driver)
        return self._drivers[version]

    def close(self) -> None:
        """End all that runs."""
        self._clusters.clear()
        self._drivers.clear()
        self._running.close()


@pytest.fixture(scope="session")
def apaches(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Apaches]:
    """The clusters of the session."""
    made = pytestconfig.stash[_APACHES] = Apaches(tmp_path_factory)
    yield made
    made.close()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the clusters with the last test in a row that asks for them.

    Idle brokers of Java would take a tenth of a core each from the tests that follow.
    """
    made = item.config.stash.get(_APACHES, None)
    if made and "apaches" not in getattr(nextitem, "fixturenames", ()):
        made.close()


@pytest.fixture
def version(request: pytest.FixtureRequest) -> str:
    """The version that a test runs on: the one under test, unless it has a list."""
    return str(getattr(request, "param", rocketmq_version()))


@pytest.fixture
def apache(apaches: Apaches, version: str) -> ApacheCluster:
    """The cluster that tests share; each uses names of its own."""
    return apaches.cluster(version)


@pytest.fixture
def java(apaches: Apaches, version: str) -> JavaDriver:
    """Java clients connected to the Apache cluster."""
    return apaches.java(version)


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
