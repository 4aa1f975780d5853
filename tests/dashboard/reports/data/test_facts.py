from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from dashboard.reports.data.facts import Highest, facts_of, worst_groups
from dashboard.reports.data.steps import epoch_bands, highest, mean
from dashboard.reports.report import Report
from tests.dashboard.reports.finished import finished_run, moment, two_epochs

pytestmark = pytest.mark.django_db


def test_facts_of_one_group(lake: Path) -> None:
    two_epochs()
    facts = facts_of(Report(finished_run(lake)))
    assert facts.peak == Highest(1350, moment(9))
    assert facts.oldest == Highest(90_000, moment(9))
    assert facts.behind == timedelta(minutes=3), "steps 7, 8 and 9 are over 30 s"
    assert facts.aged == timedelta(minutes=6)
    known = facts.measured
    assert (known.whole, known.partial) == (timedelta(minutes=6), timedelta(0))
    assert (known.missing, known.missing_spans) == (timedelta(minutes=4), 2)
    assert (facts.in_rate, facts.out_rate, facts.skew) == (20, 10, 1.5)
    assert facts.epochs == 2


def test_a_sum_over_groups_has_no_peak_of_its_own_moment(lake: Path) -> None:
    run = finished_run(lake, group="", groups=("a", "b"))
    facts = facts_of(Report(run))
    assert facts.peak == Highest(909 + 1818, moment(9))
    assert facts.in_rate == 40
    assert (facts.skew, facts.epochs) == (None, 0)


def test_the_worst_groups_come_first(lake: Path) -> None:
    run = finished_run(lake, group="", groups=("a", "b"))
    assert [(row.group, row.peak) for row in worst_groups(Report(run))] == [
        ("b", Highest(2700, moment(9))),
        ("a", Highest(1350, moment(9))),
    ]
    assert worst_groups(Report(finished_run(lake))) == []


def test_epochs_are_those_that_overlap_the_period(lake: Path) -> None:
    two_epochs()
    two_epochs(group="other")
    run = finished_run(lake)
    assert [(band.number, band.members) for band in epoch_bands(Report(run))] == [
        (7, 1),
        (8, 2),
    ]
    run.until = moment(3)
    assert [band.number for band in epoch_bands(Report(run))] == [7]
    run.since, run.until = moment(3), moment(9)
    assert [band.number for band in epoch_bands(Report(run))] == [8]


def test_sums_of_nothing_known_are_unknown() -> None:
    assert (highest([None]), mean([])) == (None, None)
    assert (highest([1, None, 4]), mean([1, None, 4])) == (4, 2.5)
