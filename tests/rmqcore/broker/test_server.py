"""A broker's life: starting, timers, stopping, dying, and what is there afterwards."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.broker.processors import HANDLERS
from rmqcore.errors import ConnectError, StateError, StoreError
from rmqcore.protocol.bodies import decode_consumer_offsets
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.headers import HEADERLESS_CODES, REQUEST_HEADERS
from rmqcore.transport import ManualClock, parse_address

from .peer import Peer


def test_every_handler_has_a_known_header() -> None:
    assert set(HANDLERS) <= set(REQUEST_HEADERS) | HEADERLESS_CODES


def test_a_broker_that_was_not_started_has_no_state(settings: BrokerSettings) -> None:
    broker = Broker(settings)
    with pytest.raises(StateError, match="broker broker-a is not started"):
        _ = broker.address


async def run(settings: BrokerSettings, clock: ManualClock | None = None) -> Broker:
    broker = Broker(settings, clock=clock)
    await broker.start()
    return broker


@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_messages_and_settings_outlive_the_broker(
    settings: BrokerSettings, clock: ManualClock, ending: str
) -> None:
    broker = await run(settings, clock)
    peer = await Peer.connected(broker.address)
    for number in range(5):
        await peer.send(body=b"%d" % number, KEYS="k")
    await peer.ok(Code.UPDATE_BROKER_CONFIG, body=b"")
    await peer.close()
    await (broker.stop() if ending == "stop" else broker.kill())
    broker = await run(settings, clock)
    peer = await Peer.connected(broker.address)
    assert [m.body for m in await peer.messages()] == [b"%d" % n for n in range(5)]
    assert (await peer.send()).ext_fields["queueOffset"] == "5"
    await peer.close()
    await broker.stop()


async def test_offsets_are_on_disk_after_5_s(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    broker.state.groups.find("g", 0)
    await peer.send()
    fields = {"consumerGroup": "g", "topic": "T", "queueId": 0, "commitOffset": 1}
    await peer.ok(Code.UPDATE_CONSUMER_OFFSET, fields)
    path = broker.settings.store_directory / "config/consumerOffset.json"
    assert not path.exists()
    await clock.advance(5)
    while not path.exists():
        await asyncio.sleep(0)
    assert decode_consumer_offsets(path.read_bytes()).offsets == {"T@g": {0: 1}}


async def test_a_commit_is_on_disk_after_a_stop(
    settings: BrokerSettings, clock: ManualClock
) -> None:
    broker = await run(settings, clock)
    broker.state.offsets.commit("g", "T", 0, 7, 0)
    await broker.stop()
    broker = await run(settings, clock)
    assert broker.state.offsets.committed("g", "T", 0) == 7
    await broker.stop()


async def test_timers_flush_and_checkpoint(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    await peer.send()
    store = broker.state.store
    assert store.flushed_offset < store.log_offsets[1]
    await clock.advance(0.5)
    while store.flushed_offset < store.log_offsets[1]:
        await asyncio.sleep(0)
    await clock.advance(5)
    path = broker.settings.store_directory / "checkpoint.json"
    while not path.exists():
        await asyncio.sleep(0)


async def test_the_retention_timer_removes_old_files_unless_the_clock_jumped(
    settings: BrokerSettings, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rmqcore.settled_clock.SETTLE_SECONDS", 180.0)
    broker = await run(replace(settings, keep_ms=30_000), clock)
    peer = await Peer.connected(broker.address)
    for _ in range(3):
        await peer.send(body=b"x" * 500_000)
    clock.jump(86_400)
    await clock.advance(61)
    assert broker.state.store.min_offset("T", 0) == 0
    clock.jump(-86_400)
    await clock.advance(241)
    assert broker.state.store.min_offset("T", 0) == 2
    await peer.close()
    await broker.stop()


async def test_a_store_past_its_size_loses_the_oldest_messages_first(
    settings: BrokerSettings, clock: ManualClock
) -> None:
    most = 3 * settings.segment_bytes
    small = replace(settings, max_log_bytes=most)
    broker = await run(small, clock)
    peer = await Peer.connected(broker.address)
    for _ in range(12):
        await peer.send(body=b"x" * 500_000)
    await clock.advance(61)
    store = broker.state.store
    first, last = store.min_offset("T", 0), store.max_offset("T", 0)
    assert (first > 0, last) == (True, 12)
    assert store.log_offsets[1] - store.log_offsets[0] <= most
    await peer.close()
    await broker.stop()


async def test_a_disk_that_fails_is_tried_again(
    broker: Broker, peer: Peer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = broker.settings.store_directory / "config/consumerOffset.json.tmp"
    in_the_way.parent.mkdir(exist_ok=True)
    in_the_way.mkdir()
    broker.state.offsets.commit("g", "T", 0, 7, 0)
    with caplog.at_level(logging.ERROR):
        await clock.advance(5)
        while "consumerOffset.json.tmp" not in caplog.text:
            await asyncio.sleep(0)
    in_the_way.rmdir()
    await clock.advance(5)
    path = broker.settings.store_directory / "config/consumerOffset.json"
    while not path.exists():
        await asyncio.sleep(0)


async def test_a_port_in_use_is_named_and_the_store_let_go(
    broker: Broker, tmp_path: Path
) -> None:
    _, port = parse_address(broker.address)
    settings = BrokerSettings(tmp_path / "other", port=port)
    with pytest.raises(ConnectError, match=f"127.0.0.1:{port}: Address already in use"):
        await Broker(settings).start()
    other = await run(BrokerSettings(tmp_path / "other"))
    await other.stop()


async def test_a_store_in_use_is_named(
    broker: Broker, settings: BrokerSettings
) -> None:
    second = Broker(settings)
    with pytest.raises(StoreError, match="is in use by another process"):
        await second.start()


async def test_a_handler_that_fails_answers_and_the_broker_goes_on(
    broker: Broker, peer: Peer
) -> None:
    response = await peer.ask(Code.PULL_MESSAGE, peer.pull_fields(queueOffset="x"))
    assert response.code == 1
    assert "field queueOffset is 'x'" in (response.remark or "")
    assert (await peer.send()).code == 0
