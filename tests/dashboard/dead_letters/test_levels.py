"""Delay levels: read from a broker's setting, and on a real embedded cluster."""

from __future__ import annotations

from django.test import Client

from dashboard.dead_letters.levels import rows_of
from dashboard.gateway.retry_levels import (
    RetryLevel,
    RetryLevels,
    delays_of,
    read_retry_levels,
)
from dashboard.gateway.settings import ClusterSettings
from rmqcore.model import Message
from tests.dashboard.messages.conftest import Running
from tests.support.waiting import wait_until

HERE = "/clusters/east/groups/flaky/retries/"


def test_delays_are_read_as_the_broker_words_them() -> None:
    assert delays_of("1s 5m 2h 1d") == (1_000, 300_000, 7_200_000, 86_400_000)
    assert delays_of("1s soon") == ()
    assert delays_of("") == ()


def test_levels_before_the_first_retry_are_shown_if_something_waits() -> None:
    found = RetryLevels(
        [
            RetryLevel(1, 1_000, waiting=0, all_waiting=9),
            RetryLevel(2, 5_000, waiting=1, all_waiting=1, next_ms=12_000),
            RetryLevel(3, 10_000, waiting=4, all_waiting=4, part=True),
        ]
    )
    by_hand, first = rows_of(found, now_ms=10_000)
    assert (by_hand.retry, by_hand.next_in_ms, by_hand.bar) == (None, 2_000, "50.0")
    assert (first.retry, first.next_in_ms, first.bar) == (1, None, "200.0")
    assert (found.waiting, found.part) == (5, True)


def test_what_waits_in_the_levels_is_counted_for_its_group_only(
    running: Running, viewer: Client, east: ClusterSettings
) -> None:
    running.join("flaky", fails=True)
    running.join("faulty", fails=True)
    running.send(*(Message.of("orders", b"{}", keys=[f"r-{n}"]) for n in range(3)))

    def waits() -> bool:
        (level,) = [
            each.level
            for each in viewer.get(HERE).context["rows"]
            if each.level.number == 3
        ]
        return bool((level.waiting, level.all_waiting) == (3, 6))

    wait_until(waits)
    answer = viewer.get(HERE)
    row = answer.context["rows"][0]
    assert (row.retry, row.level.delay_ms, row.level.part) == (1, 10_000, False)
    assert 0 <= row.next_in_ms <= 10_000
    silent = read_retry_levels(east, "flaky", 0, {"broker-z": "gone"})
    assert (silent.failed, silent.part) == ({"broker-z": "gone"}, True)
    assert {(e.part, e.all_part, e.next_ms) for e in silent.levels} == {
        (True, True, None)
    }
    levels = answer.context["levels"]
    assert (len(levels.levels), levels.failed, levels.assumed) == (18, {}, [])
    assert "retry 16" in answer.content.decode()
