"""The embedded broker's disk is full, or takes no data."""

from __future__ import annotations

import errno
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.errors import StoreError
from rmqcore.protocol.codes import ResponseCode
from tests.rmqcore.broker.peer import Peer
from tests.support.disks import SmallDisk, small_disk

BODY = bytes(100_000)
REFUSED = ResponseCode.SERVICE_NOT_AVAILABLE


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 4) as disk:
        yield disk


@pytest.fixture
def settings(disk: SmallDisk) -> BrokerSettings:
    return BrokerSettings(disk.path / "store", segment_bytes=1 << 20)


@pytest.fixture
async def broker(settings: BrokerSettings) -> AsyncIterator[Broker]:
    broker = Broker(settings)
    await broker.start()
    yield broker
    await broker.kill()


@pytest.fixture
async def peer(broker: Broker) -> AsyncIterator[Peer]:
    peer = await Peer.connected(broker.address)
    yield peer
    await peer.close()


def read_only(_descriptor: int) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


async def send_until_refused(peer: Peer) -> tuple[int, str]:
    """Send messages; return how many were acknowledged, and what the refusal says."""
    acknowledged = 0
    while (answer := await peer.send(body=BODY)).code == 0:
        acknowledged += 1
    assert answer.code == REFUSED
    return acknowledged, answer.remark or ""


async def stored_after_a_kill(broker: Broker, settings: BrokerSettings) -> Broker:
    await broker.kill()
    again = Broker(settings)
    await again.start()
    return again


async def test_what_does_not_fit_is_refused_and_nothing_acknowledged_is_lost(
    broker: Broker, settings: BrokerSettings, peer: Peer, disk: SmallDisk
) -> None:
    assert (await peer.send(body=BODY)).code == 0
    disk.fill()
    acknowledged, remark = await send_until_refused(peer)
    assert "disk is full" in remark
    assert os.strerror(errno.ENOSPC) in remark
    disk.make_room()
    assert (await peer.send(body=BODY)).code == 0
    again = await stored_after_a_kill(broker, settings)
    assert again.state.store.max_offset("T", 0) == acknowledged + 2
    await again.kill()


async def test_no_message_is_taken_for_a_topic_that_was_not_written(
    broker: Broker, settings: BrokerSettings, peer: Peer, disk: SmallDisk
) -> None:
    await peer.send()
    disk.fill()
    for _again in range(2):
        assert (await peer.send("new")).code == REFUSED
        assert (await peer.send("%RETRY%g")).code == REFUSED
    disk.make_room()
    assert (await peer.send("new")).code == 0
    again = await stored_after_a_kill(broker, settings)
    assert "new" in again.state.topics
    assert again.state.store.max_offset("new", 0) == 1
    await again.kill()


async def test_a_disk_that_takes_no_data_has_nothing_acknowledged(
    broker: Broker, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await peer.send()).code == 0
    with monkeypatch.context() as patched:
        patched.setattr("rmqcore.store.segment.os.fdatasync", read_only)
        with pytest.raises(StoreError, match="Read-only"):
            await broker._flusher.flush()
        answer = await peer.send()
        assert (answer.code, broker.state.store.max_offset("T", 0)) == (REFUSED, 1)
        assert "Read-only file system" in (answer.remark or "")
    await broker._flusher.flush()
    assert (await peer.send()).code == 0


async def test_with_sync_flush_too(
    broker: Broker, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.state.settings = replace(broker.state.settings, sync_flush=True)
    with monkeypatch.context() as patched:
        patched.setattr("rmqcore.store.segment.os.fdatasync", read_only)
        assert (await peer.send()).code == REFUSED
    await broker._flusher.flush()
    assert (await peer.send()).code == 0


async def test_a_stop_on_a_full_disk_writes_what_it_can_and_lets_go(
    settings: BrokerSettings, disk: SmallDisk
) -> None:
    broker = Broker(settings)
    await broker.start()
    peer = await Peer.connected(broker.address)
    assert (await peer.send()).code == 0
    await peer.close()
    disk.fill()
    broker.state.offsets.commit("g", "T", 0, 1, 0)
    await broker.stop()
    disk.make_room()
    again = Broker(settings)
    await again.start()
    assert again.state.store.max_offset("T", 0) == 1
    await again.kill()
