import pytest

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.broker.delivery import ROUND_MESSAGES, deliver_due
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.transport import ManualClock

from .peer import Peer


async def test_a_delayed_message_comes_when_its_time_has_come(
    peer: Peer, clock: ManualClock
) -> None:
    await peer.send(queue_id=2, body=b"later", DELAY=2, TAGS="A")
    assert await peer.messages("T", 2) == []
    await clock.advance(4.95)
    assert await peer.messages("T", 2) == []
    await clock.advance(0.1)
    (message,) = await peer.messages("T", 2)
    assert (message.body, message.tags) == (b"later", "A")
    assert "DELAY" not in message.properties
    assert message.store_timestamp >= clock.time_ms() - 100


async def test_levels_do_not_wait_for_one_another(
    peer: Peer, clock: ManualClock
) -> None:
    await peer.send(body=b"slow", DELAY=3)
    await peer.send(body=b"fast", DELAY=1)
    await clock.advance(1.1)
    assert [m.body for m in await peer.messages()] == [b"fast"]
    await clock.advance(9)
    assert [m.body for m in await peer.messages()] == [b"fast", b"slow"]


async def test_a_delivery_wakes_who_waits(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    await peer.send(body=b"later", DELAY=1)
    waiting = peer.pull_later()
    while not len(broker.state.holds):
        await clock.advance(0)
    await clock.advance(1.1)
    assert (await waiting).code == 0


async def test_a_flood_is_delivered_round_by_round(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    for _ in range(ROUND_MESSAGES + 50):
        await peer.send(DELAY=1)
    due = clock.time_ms() + 1000
    assert deliver_due(broker.state, due - 1) == 0
    assert deliver_due(broker.state, due) == ROUND_MESSAGES
    assert deliver_due(broker.state, due) == 50
    assert deliver_due(broker.state, due) == 0
    assert broker.state.delays.get(1) == ROUND_MESSAGES + 50


async def test_a_time_too_far_away_is_not_waited_for(
    broker: Broker, peer: Peer, clock: ManualClock
) -> None:
    await peer.send(DELAY=1)
    assert deliver_due(broker.state, clock.time_ms() - 5_000) == 1


@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_what_waits_outlives_the_broker(
    settings: BrokerSettings, clock: ManualClock, ending: str
) -> None:
    broker = Broker(settings, clock=clock)
    await broker.start()
    peer = await Peer.connected(broker.address)
    await peer.send(body=b"first", DELAY=1)
    await clock.advance(1.1)
    await peer.send(body=b"second", DELAY=1)
    await peer.close()
    await (broker.stop() if ending == "stop" else broker.kill())
    broker = Broker(settings, clock=clock)
    await broker.start()
    await clock.advance(1.1)
    peer = await Peer.connected(broker.address)
    bodies = [m.body for m in await peer.messages()]
    # A level's offset that was not yet on disk delivers again, never less.
    again = [b"first"] if ending == "kill" else []
    assert bodies == [b"first", *again, b"second"]
    assert broker.state.store.max_offset(SCHEDULE_TOPIC, 0) == 2
    await peer.close()
    await broker.stop()
