from __future__ import annotations

import pytest

from dashboard.collector.rates import WINDOW_MS, History
from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import QueueTable

from .sights import keys, table

QUEUES = keys(2)


def at(high: list[int | Reason], committed: list[int | Reason]) -> QueueTable:
    return table(QUEUES, high=high, committed=committed)


def test_rates_are_differences_over_the_time_between_samples() -> None:
    history = History()
    history.add(0, at([100, 200], [90, 200]))
    history.add(10_000, at([150, 200], [100, 200]))
    rates = history.rates()
    assert rates.rows_in == (5.0, 0.0)
    assert rates.rows_out == (1.0, 0.0)
    assert (rates.rate_in, rates.rate_out) == (5.0, 1.0)


def test_one_sample_has_no_rate() -> None:
    history = History()
    assert history.rates().rows_in == ()
    history.add(0, at([100, 200], [90, 200]))
    rates = history.rates()
    assert rates.rate_in is None
    assert rates.rows_out == (None, None)


def test_too_short_a_time_gives_no_rate() -> None:
    history = History()
    history.add(0, at([100, 200], [90, 200]))
    history.add(500, at([150, 200], [90, 200]))
    assert history.rates().rate_in is None


def test_close_samples_replace_each_other_but_the_first_stays() -> None:
    history = History()
    for second in range(31):
        history.add(second * 1000, at([second * 7, 0], [second * 7, 0]))
    assert history.rates().rate_in == pytest.approx(7.0)
    assert len(history._samples) <= WINDOW_MS // 2000 + 2


def test_old_samples_leave_the_window() -> None:
    history = History()
    history.add(0, at([0, 0], [0, 0]))
    for second in (10, 20, 30, 40, 50):
        history.add(second * 1000, at([second * 2, 0], [0, 0]))
    history.add(60_000, at([100 + 300, 0], [0, 0]))
    assert history.rates().rate_in == pytest.approx((400 - 60) / 30)


def test_two_samples_are_kept_however_far_apart() -> None:
    history = History()
    history.add(0, at([0, 0], [0, 0]))
    history.add(100_000, at([200, 0], [0, 0]))
    assert history.rates().rate_in == 2.0


@pytest.mark.parametrize(
    ("before", "after"),
    [(Reason.NO_ANSWER, 10), (10, Reason.NO_ANSWER), (10, 5)],
)
def test_unknown_and_reset_queues_have_no_rate(
    before: int | Reason, after: int | Reason
) -> None:
    history = History()
    history.add(0, at([before, 0], [0, 0]))
    history.add(10_000, at([after, 20], [0, 0]))
    assert history.rates().rows_in == (None, 2.0)
    assert history.rates().rate_in == 2.0


def test_a_change_of_queues_starts_anew() -> None:
    history = History()
    history.add(0, table(keys(1), high=[0]))
    history.add(10_000, at([100, 0], [0, 0]))
    assert history.rates().rate_in is None
    history.add(20_000, at([200, 0], [0, 0]))
    assert history.rates().rate_in == 10.0
