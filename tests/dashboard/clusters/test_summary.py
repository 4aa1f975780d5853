from __future__ import annotations

from dashboard.clusters.summary import WORST_ROWS, summary_of, summed
from tests.dashboard.documents import looked_at, overview, overview_row


def test_a_summary_has_the_numbers_of_its_overview() -> None:
    found = summary_of(overview())
    assert (found.brokers, found.answering, found.missing) == (3, 2, 0)
    assert (found.crit, found.warn) == (2, 1)
    assert found.oldest_group == "invoice-pdf"
    assert [row["group"] for row in found.worst] == [
        "order-settlement",
        "invoice-pdf",
        "payment-events",
    ]
    assert not found.whole


def test_a_cluster_of_which_everything_is_known_is_whole() -> None:
    rows = [overview_row("calm")]
    assert summary_of(looked_at(groups=rows)).whole
    assert not summary_of(looked_at(groups=rows, error="away")).whole


def test_a_cluster_that_has_never_answered_is_told_from_one_that_did_once() -> None:
    assert not summary_of(overview(brokers=[], error="refused")).ever
    assert summary_of(overview(error="refused")).ever


def test_only_the_first_bad_groups_are_kept() -> None:
    bad = {"level": "crit", "word": "stalled"}
    rows = [overview_row(f"g{at}", status=bad) for at in range(20)]
    assert len(summary_of(looked_at(groups=rows)).worst) == WORST_ROWS


def test_lags_of_an_hour_are_summed_without_inventing_any() -> None:
    assert summed([]) == []
    assert summed([[1, None, 3], [2, None]]) == [1, None, None]
    assert summed([[None, None], [None, 4]]) == [None, 4]
    assert summed([[5, 6, 7], [None, 10, 10], [1]]) == [5, 16, 18]
