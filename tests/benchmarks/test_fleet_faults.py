"""The campaign's judgement on made-up logs, and one real fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fleet_faults import QUEUES, Campaign, judge, longest_silence
from benchmarks.fleet_log import Delivery, FleetLog

QUEUE = ("broker-a", 3)
OTHER = ("broker-a", 4)


def given(*offsets: int, queue: tuple[str, int] = QUEUE) -> list[Delivery]:
    return [Delivery(float(at), queue, offset) for at, offset in enumerate(offsets)]


def test_repetition_is_no_disorder() -> None:
    verdict = judge(4, given(0, 1, 2, 1, 2, 3))
    assert (verdict.repeated, verdict.lost, verdict.out_of_order) == (2, 0, 0)
    assert verdict.holds


def test_a_message_first_delivered_after_a_later_one_is_disorder() -> None:
    verdict = judge(3, given(0, 2, 1))
    assert verdict.out_of_order == 1
    assert not verdict.holds


def test_a_message_never_delivered_is_lost() -> None:
    verdict = judge(3, given(0, 2))
    assert verdict.lost == 1
    assert not verdict.holds


def test_queues_are_judged_apart() -> None:
    assert judge(4, given(0, 1) + given(0, 1, queue=OTHER)).holds


def test_silence_is_that_of_one_queue_and_of_the_span() -> None:
    deliveries = [
        Delivery(0, QUEUE, 0),
        Delivery(1, QUEUE, 1),
        Delivery(1, OTHER, 0),
        Delivery(8, QUEUE, 2),
        Delivery(30, OTHER, 1),
    ]
    assert longest_silence(deliveries, 0, 2) == 29
    assert longest_silence(deliveries[:4], 0, 5) == 7
    assert longest_silence(deliveries, 31, 40) == 0


def test_logs_are_read_line_by_line(tmp_path: Path) -> None:
    log = tmp_path / "fleet-1.log"
    log.write_text(
        "2026-01-02 03:04:05,250 INFO dashboard.fleet.listeners topic=ordered "
        "broker=broker-a queue=3 offset=17 keys=key-1 bytes=3\n"
        "2026-01-02 03:04:06,250 INFO dashboard.fleet.listeners topic=orders "
        "broker=broker-a queue=3 offset=18 keys=key-1 bytes=3\n"
        "2026-01-02 03:04:07,250 INFO celery.apps.worker ready.\n"
    )
    reader = FleetLog(log, "ordered")
    (delivery,) = reader.read()
    assert (delivery.queue, delivery.offset) == (QUEUE, 17)
    assert delivery.at_s % 1 == 0.25
    assert reader.read() == []


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_orderly_group_outlives_a_killed_worker(tmp_path: Path) -> None:
    # While locks are waited for, each queue gathers more than a member pulls at once.
    campaign = Campaign(tmp_path, members=4, rate=20)
    try:
        campaign.start()
        campaign.run("kill")
        sent, deliveries = campaign.end()
        gaps = campaign.told_gaps()
    finally:
        campaign.stop()
    assert judge(sent, deliveries).holds
    assert len({each.queue for each in deliveries}) == QUEUES
    assert gaps, "the timeline tells of the queues that waited for their locks"
