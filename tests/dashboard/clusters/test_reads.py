"""The order of clusters, and sums that never claim more than is known."""

from __future__ import annotations

import pytest

from dashboard.clusters.reads import (
    SILENT_MS,
    AllClusters,
    ClusterRow,
    all_clusters,
    cluster_row,
    rank,
)
from dashboard.clusters.said import say_state, say_what
from dashboard.clusters.summary import summary_of
from dashboard.live.documents import Overview
from dashboard.models import Cluster, Role, User
from tests.dashboard.conftest import Write
from tests.dashboard.documents import (
    NOW_MS,
    looked_at,
    now_ms,
    overview,
    overview_row,
)

CALM = [overview_row("calm")]
SLOW = [
    overview_row("slow", status={"level": "warn", "word": "falling_behind"}),
]


def row(name: str, document: Overview | None, at: int = 0) -> ClusterRow:
    summary = None if document is None else summary_of(document)
    return cluster_row(Cluster(name=name), summary, at or now_ms())


def every_kind() -> list[ClusterRow]:
    away = looked_at(groups=CALM, error="10.9.0.4:9876 refused")
    silent = overview(at=now_ms(), groups=CALM)
    return [
        row("calm", looked_at(groups=CALM)),
        row("slow", looked_at(groups=SLOW)),
        row("new", None),
        row("away", away),
        row("silent", silent),
        row("bad", looked_at()),
    ]


def test_clusters_are_ordered_worst_first() -> None:
    found = sorted(every_kind(), key=rank)
    assert [each.name for each in found] == [
        "bad",
        "silent",
        "away",
        "new",
        "slow",
        "calm",
    ]
    assert [say_state(each) for each in found] == [
        "Needs a look",
        "Partly known",
        "Not reachable",
        "Not collected yet",
        "Falling behind",
        "Healthy",
    ]


def test_a_cluster_that_nobody_collects_is_not_called_healthy() -> None:
    old = row("old", looked_at(groups=CALM), now_ms() + 2 * SILENT_MS)
    assert old.state == "unreachable"
    assert "does a collector run?" in say_what(old, now_ms())


def test_a_cluster_without_an_answering_broker_is_not_reachable() -> None:
    (broker,) = [each for each in overview()["brokers"] if not each["answered"]]
    found = row("mute", looked_at(groups=CALM, brokers=[broker]))
    assert found.state == "unreachable"
    assert found.summary is not None
    assert found.summary.as_of < found.summary.taken_at
    assert "10.20.6.9:10911 did not answer" in say_what(found, now_ms())


def test_a_warning_that_is_no_lag_is_not_called_one() -> None:
    rows = [overview_row("odd", status={"level": "warn", "word": "idle_members"})]
    assert say_state(row("odd", looked_at(groups=rows))) == "Warnings"


def test_the_reason_names_groups_brokers_and_errors() -> None:
    found = {each.name: say_what(each, now_ms()) for each in every_kind()}
    assert found["bad"].startswith("order-settlement: No owner; invoice-pdf: Stalled")
    assert "hz2@broker-c" in found["silent"]
    assert found["away"].startswith("no answer since ")
    assert found["away"].endswith("; 10.9.0.4:9876 refused")
    assert found["slow"] == "slow: Falling behind"
    assert found["calm"].startswith("no group needs a look")


def test_a_cluster_that_never_answered_gives_its_error_and_no_numbers() -> None:
    found = row("typo", looked_at(groups=CALM, brokers=[], error="refused"))
    assert say_what(found, now_ms()) == "refused"
    assert AllClusters([found]).old == []


def test_sums_of_whole_clusters_are_exact() -> None:
    whole = {"lag_partial": False, "oldest_partial": False}
    document = looked_at(groups=SLOW)
    document["totals"] |= whole  # type: ignore[typeddict-item]
    found = AllClusters([row("a", document), row("b", document)])
    assert (found.groups.value, found.groups.partial) == (2, False)
    assert (found.look.value, found.look.partial) == (2, False)
    assert (found.lag.value, found.lag.partial) == (240, False)
    assert not found.oldest_partial


def test_a_cluster_that_is_away_makes_sums_partial_and_is_part_of_none() -> None:
    away = row("away", looked_at(groups=CALM, error="refused"))
    found = AllClusters([row("a", looked_at(groups=SLOW)), away])
    assert (found.groups.value, found.groups.partial) == (1, True)
    assert found.look.partial
    assert found.lag.partial
    assert [each.name for each in found.old] == ["away"]
    assert (found.brokers, found.answering, found.unknown_brokers) == (4, 2, 2)


def test_nothing_known_is_no_sum_of_zero() -> None:
    found = AllClusters([row("new", None)])
    assert found.lag.value is None
    assert found.known == []
    assert found.oldest is None
    assert found.taken_at == 0
    assert found.without_brokers == 1


def test_worst_groups_are_gathered_over_clusters_critical_first() -> None:
    found = AllClusters(
        [row("slow", looked_at(groups=SLOW)), row("bad", looked_at())]
    ).worst_groups
    assert [each.cluster for each in found] == ["bad", "bad", "slow", "bad"]


@pytest.mark.django_db
def test_a_summary_is_made_anew_only_for_another_overview(write: Write) -> None:
    write(overview())
    (first,) = all_clusters(User(role=Role.VIEWER), NOW_MS).rows
    (again,) = all_clusters(User(role=Role.VIEWER), NOW_MS).rows
    assert again.summary is first.summary
    write(overview(seq=12))
    (other,) = all_clusters(User(role=Role.VIEWER), NOW_MS).rows
    assert other.summary is not first.summary
