from rmqcore.broker import Broker
from rmqcore.protocol.bodies import (
    decode_broker_stats,
    decode_ha_status,
    decode_kv_table,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.transport import ManualClock

from .peer import Peer


async def table(peer: Peer) -> dict[str, str]:
    return decode_kv_table((await peer.ok(Code.GET_BROKER_RUNTIME_INFO)).body)


async def test_a_new_broker_has_counted_nothing(peer: Peer, clock: ManualClock) -> None:
    info = await table(peer)
    assert info["bootTimestamp"] == str(clock.time_ms())
    assert info["brokerVersionDesc"] == "V5_5_0"
    assert info["earliestMessageTimeStamp"] == "-1"
    assert info["putMessageAverageSize"] == "0.0"
    assert info["putTps"] == info["getTotalTps"] == "0.0 0.0 0.0"


async def test_counts_and_rates(broker: Broker, peer: Peer, clock: ManualClock) -> None:
    for _ in range(30):
        await peer.send()
    await peer.pull()
    await peer.pull(offset=30)
    await peer.send(DELAY=2)
    await clock.advance(100)
    stored = str(clock.time_ms() - 100_000)
    info = await table(peer)
    assert info["putMessageTimesTotal"] == info["msgPutTotalTodayNow"] == "31"
    assert info["msgGetTotalTodayNow"] == "30"
    assert info["earliestMessageTimeStamp"] == stored
    assert info["runtime"] == "[ 0 days, 0 hours, 1 minutes, 40 seconds ]"
    assert info["scheduleMessageOffset_2"] == "1,1"
    assert "scheduleMessageOffset_1" not in info
    assert info["commitLogMaxOffset"] == str(broker.state.store.log_offsets[1])
    assert info["remainHowManyDataToFlush"] == "0 B"
    assert info["putTps"].split() == ["0.0", "0.0", "0.31"]


async def test_rates_are_over_three_spans(peer: Peer, clock: ManualClock) -> None:
    for _ in range(30):
        await peer.send()
    await peer.pull()
    await peer.pull(offset=30)
    await clock.advance(10)
    info = await table(peer)
    assert info["putTps"] == "3.0 3.0 3.0"
    assert info["getTransferredTps"] == "3.0 3.0 3.0"
    assert info["getTransferedTps"] == info["getTransferredTps"]
    assert info["getFoundTps"] == info["getMissTps"] == "0.1 0.1 0.1"
    assert info["getTotalTps"] == "0.2 0.2 0.2"
    await clock.advance(10)
    info = await table(peer)
    assert info["putTps"] == "0.0 1.5 1.5"


async def test_one_statistic(peer: Peer, clock: ManualClock) -> None:
    for _ in range(30):
        await peer.send()
    await clock.advance(10)
    fields = {"statsName": "TOPIC_PUT_NUMS", "statsKey": "T"}
    response = await peer.ok(Code.VIEW_BROKER_STATS_DATA, fields)
    shown = decode_broker_stats(response.body).stats_minute
    assert (shown.sum, shown.tps, shown.avgpt) == (30, 3.0, 1.0)


async def test_an_unknown_statistic_is_1(peer: Peer) -> None:
    fields = {"statsName": "TOPIC_PUT_NUMS", "statsKey": "T"}
    response = await peer.ask(Code.VIEW_BROKER_STATS_DATA, fields)
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == "The stats <TOPIC_PUT_NUMS> <T> not exist"


async def test_nobody_follows_this_broker(broker: Broker, peer: Peer) -> None:
    await peer.send()
    status = decode_ha_status((await peer.ok(Code.GET_BROKER_HA_STATUS)).body)
    assert status.master
    assert status.master_commit_log_max_offset == broker.state.store.log_offsets[1]
    assert (status.in_sync_slave_nums, status.ha_connection_info) == (0, ())
