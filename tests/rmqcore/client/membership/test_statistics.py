"""Rates over the last minute, failures over the last hour."""

from __future__ import annotations

import pytest

from rmqcore.client.membership.statistics import TopicStatistics, Window

NOW = 1_700_000_000_000


def test_an_empty_window_has_no_rate() -> None:
    window = Window()
    assert window.sums(NOW) == (0, 0.0)
    assert window.per_second(NOW) == window.mean(NOW) == 0.0


def test_a_window_spans_a_minute() -> None:
    window = Window()
    for second in range(0, 120, 10):
        window.add(NOW + second * 1000, 60, 600.0)
    now_ms = NOW + 110_000
    assert window.sums(now_ms) == (360, 3600.0)
    assert window.per_second(now_ms) == 6.0
    assert window.mean(now_ms) == 10.0


def test_what_is_old_does_not_count() -> None:
    window = Window()
    window.add(NOW, 60)
    assert window.sums(NOW + 50_000) == (60, 0.0)
    assert window.sums(NOW + 60_000) == (0, 0.0)


def test_counts_of_one_bucket_add_up() -> None:
    window = Window()
    window.add(NOW, 1, 2.0)
    window.add(NOW + 1, 2, 4.0)
    assert window.sums(NOW + 1) == (3, 6.0)


def test_rates_of_a_topic() -> None:
    statistics = TopicStatistics()
    statistics.pulled(NOW, 120, 8.0)
    statistics.pulled(NOW, 0, 4.0)
    statistics.consumed(NOW, 60, 0, 3.0)
    statistics.consumed(NOW, 0, 30, 5.0)
    statistics.consumed(NOW + 10_000, 60, 0, 1.0)
    rates = statistics.rates(NOW + 10_000)
    assert rates.pull_tps == 2.0
    assert rates.pull_rt == 6.0
    assert rates.consume_ok_tps == 2.0
    assert rates.consume_failed_tps == 0.5
    assert rates.consume_rt == pytest.approx(3.0)
    assert rates.consume_failed_msgs == 30


def test_failures_are_remembered_for_an_hour() -> None:
    statistics = TopicStatistics()
    statistics.consumed(NOW, 0, 7, 1.0)
    later = statistics.rates(NOW + 50 * 60_000)
    assert (later.consume_failed_tps, later.consume_failed_msgs) == (0.0, 7)
    assert statistics.rates(NOW + 70 * 60_000).consume_failed_msgs == 0


def test_reading_rates_does_not_change_them() -> None:
    statistics = TopicStatistics()
    statistics.consumed(NOW, 6, 0, 1.0)
    assert statistics.rates(NOW) == statistics.rates(NOW)
