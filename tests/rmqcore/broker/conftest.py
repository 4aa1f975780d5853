from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.transport import ManualClock

from .peer import Peer

Connect = Callable[[], Awaitable[Peer]]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def settings(tmp_path: Path) -> BrokerSettings:
    return BrokerSettings(tmp_path / "store", segment_bytes=1 << 20)


@pytest.fixture
async def broker(settings: BrokerSettings, clock: ManualClock) -> AsyncIterator[Broker]:
    made = Broker(settings, clock=clock)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def connected(broker: Broker) -> AsyncIterator[Connect]:
    """Make further peers; all are closed at the end."""
    peers: list[Peer] = []

    async def make() -> Peer:
        peers.append(await Peer.connected(broker.address))
        return peers[-1]

    yield make
    for each in peers:
        await each.close()


@pytest.fixture
async def peer(connected: Connect) -> Peer:
    return await connected()
