"""When a disk forces a broker to delete messages that are not old enough."""

from __future__ import annotations

from dashboard.collector.disk_time import LogGrowth, TimeLeft, time_left
from dashboard.collector.runtime_info import figures_of
from dashboard.live.broker_documents import BrokerFigures

GIB = 1 << 30
SETTINGS = {
    "fileReservedTime": "72",
    "diskMaxUsedSpaceRatio": "75",
    "diskSpaceCleanForciblyRatio": "85",
}


def disk(ratio: str, end: int = 0) -> BrokerFigures:
    table = {
        "commitLogDiskRatio": ratio,
        "commitLogDirCapacity": "Total : 100.0 GiB, Free : 1.0 GiB.",
        "commitLogMinOffset": "0",
        "commitLogMaxOffset": str(end),
    }
    return figures_of(table)[0]


def test_the_time_left_is_the_room_below_the_limit_by_the_rate() -> None:
    left = time_left(disk("0.75"), SETTINGS, 10 * GIB / 3600)
    assert left == TimeLeft(3_600_000, ratio=0.85)


def test_no_time_is_told_where_age_deletes_before_the_disk_is_full() -> None:
    slow = 10 * GIB / (72 * 3600)
    assert time_left(disk("0.7"), SETTINGS, slow).why == "age_first"
    # The log already holds as much as it ever will.
    assert time_left(disk("0.84", 10 * GIB), SETTINGS, slow).why == "age_first"
    assert time_left(disk("0.84"), SETTINGS, slow).ms is not None


def test_files_over_their_age_may_wait_a_day_where_only_the_clock_deletes() -> None:
    late = {**SETTINGS, "diskMaxUsedSpaceRatio": "90"}
    rate = 14 * GIB / (72 * 3600)
    assert time_left(disk("0.7"), SETTINGS, rate).why == "age_first"
    assert time_left(disk("0.7"), late, rate).ms is not None


def test_why_there_is_no_time() -> None:
    rate = float(GIB)
    assert time_left(disk("0.7"), {}, rate).why == "no_settings"
    assert time_left(disk("-1"), SETTINGS, rate).why == "not_told"
    assert time_left(disk("0.7"), SETTINGS, None).why == "first_minute"
    assert time_left(disk("0.7"), SETTINGS, 0.0).why == "nothing_written"
    # Already above: brokers take no limit above 85 %.
    full = time_left(disk("0.86"), {**SETTINGS, "diskSpaceCleanForciblyRatio": "95"}, 0)
    assert full == TimeLeft(0, ratio=0.85)


def test_growth_is_told_after_a_minute_and_over_ten_at_most() -> None:
    growth = LogGrowth()
    assert growth.rate is None
    for second in range(0, 50, 10):
        growth.take(second * 1000, second * 100)
    assert growth.rate is None
    growth.take(60_000, 6_000)
    assert growth.rate == 100.0
    growth.take(660_000, 606_000)
    assert growth.rate == 1000.0
    growth.take(670_000, 0)  # another store
    assert growth.rate is None
