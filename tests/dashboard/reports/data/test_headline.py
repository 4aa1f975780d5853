"""What a report says first: what happened to the lag, and at which rates."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.reports.data.headline import headline, headline_of
from dashboard.reports.report import Report
from tests.dashboard.reports.finished import finished_run


@pytest.mark.parametrize(
    ("lags", "rates", "text"),
    [
        ((20_000, 189_000), (80, 33), "Lag from 20k to 189k: 80/s in, 33/s out"),
        ((5, 0), (None, None), "Lag from 5 to 0"),
        (None, (80, 33), "80/s in, 33/s out"),
        (None, (None, None), ""),
    ],
)
def test_only_what_is_known_is_said(
    lags: tuple[float, float] | None, rates: tuple[float | None, ...], text: str
) -> None:
    assert headline_of(lags, *rates) == text


@pytest.mark.parametrize(
    ("between", "text"),
    [
        ((20_000, 20_049), "Lag stayed at 20k: 80/s in"),
        ((20_000, 2_000_000), "Lag from 20k to 20k: 80/s in"),
        ((0, 20_049), "Lag from 20k to 20k: 80/s in"),
    ],
)
def test_lag_that_was_higher_or_lower_between_did_not_stay(
    between: tuple[float, float], text: str
) -> None:
    assert headline_of((20_000, 20_040), 80, None, between=between) == text


@pytest.mark.parametrize(("known", "share"), [(0.7, "70"), (0.999, "99"), (1e-6, "1")])
def test_it_is_said_for_how_much_of_the_time_the_lag_is_known(
    known: float, share: str
) -> None:
    found = headline_of((5, 0), 80, None, known=known)
    assert found == f"Lag from 5 to 0 (known for {share} % of the time): 80/s in"


@pytest.mark.django_db
def test_the_lag_is_that_of_the_first_and_the_last_whole_step(lake: Path) -> None:
    found = headline(Report(finished_run(lake)))
    assert found == (
        "Lag from 101 to 909 (known for 60 % of the time): 20/s in, 10/s out"
    )
