"""What brokers of each release report on themselves, as figures."""

from __future__ import annotations

from dashboard.collector.runtime_info import figures_of

V5 = {
    "bootTimestamp": "1780000000000",
    "brokerActive": "true",
    "brokerVersionDesc": "V5_3_1",
    "putTps": "120.0 110,5 90.25",
    "getTransferredTps": "240.0 230.0",
    "msgPutTotalTodayMorning": "100",
    "msgPutTotalTodayNow": "350",
    "putMessageFailedTimes": "2",
    "putLatency99": "3,25",
    "putLatency999": "18.00",
    "putMessageEntireTimeMax": "412",
    "putMessageDistributeTime": "[<=0ms]:7 [0~10ms]:40 [10s~]:1 ",
    "pageCacheLockTimeMills": "0",
    "dispatchBehindBytes": "4096",
    "remainHowManyDataToFlush": "1.5 KiB",
    "commitLogDiskRatio": "0.42",
    "consumeQueueDiskRatio": "-1",
    "commitLogDirCapacity": "Total : 100.0 GiB, Free : 58.0 GiB.",
    "commitLogMinOffset": "0",
    "commitLogMaxOffset": "1073741824",
    "earliestMessageTimeStamp": "-1",
    "sendThreadPoolQueueSize": "3",
    "sendThreadPoolQueueCapacity": "10000",
    "sendThreadPoolQueueHeadWaitTimeMills": "250",
    "ackThreadPoolQueueHeadWaitTimeMills": "0",
    "EndTransactionQueueSize": "0",
    "EndTransactionThreadPoolQueueCapacity": "100000",
    "scheduleMessageOffset_3": "10,14",
}


def test_a_report_becomes_figures_with_their_units() -> None:
    figures, unknown = figures_of(V5)
    assert figures["rates_in"] == [120.0, 110.5, 90.25]
    assert figures["rates_out"] == [240.0, 230.0, None]
    assert (figures["today_in"], figures["put_failed"]) == (250, 2)
    assert (figures["put_p99_ms"], figures["put_p999_ms"]) == (3.25, 18.0)
    assert figures["put_spread"] == [("<=0ms", 7), ("0~10ms", 40), ("10s~", 1)]
    assert (figures["dispatch_bytes"], figures["flush_bytes"]) == (4096, 1536)
    assert (figures["disk_total"], figures["disk_free"]) == (100 << 30, 58 << 30)
    assert figures["delays"] == [{"level": 3, "waiting": 4}]
    send, ack, end = figures["pools"]
    assert send == {"name": "send", "size": 3, "capacity": 10000, "wait_ms": 250}
    assert (ack["size"], ack["wait_ms"], end["wait_ms"]) == (None, 0, None)
    assert unknown == {
        "today_out": "not_told",
        "index_disk_ratio": "not_told",
        "earliest_at": "no_messages",
    }


def test_what_4_9_does_not_report_is_unknown_because_of_its_release() -> None:
    old = {name: text for name, text in V5.items() if "Latency" not in name}
    old |= {"brokerVersionDesc": "V4_9_7", "getTransferedTps": "5.0 5.0 5.0"}
    del old["getTransferredTps"]
    figures, unknown = figures_of(old)
    assert figures["rates_out"] == [5.0, 5.0, 5.0]
    assert figures["put_p99_ms"] is None
    assert unknown["put_p99_ms"] == unknown["put_p999_ms"] == "older_broker"


def test_an_empty_report_says_nothing_and_nothing_is_zero() -> None:
    figures, unknown = figures_of({})
    assert figures["pools"] == figures["delays"] == figures["put_spread"] == []
    assert figures["rates_in"] == [None, None, None]
    assert set(unknown.values()) == {"not_told"}
    assert {name for name, value in figures.items() if value is None} < unknown.keys()
