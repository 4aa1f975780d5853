from __future__ import annotations

import math
from typing import Any

import pytest
from django.test import Client

from dashboard.metrics.groups import OLD_AFTER_SECONDS
from tests.dashboard.conftest import Write
from tests.dashboard.documents import looked_at, now_ms, overview, overview_row

from .scrape import of, scrape

pytestmark = pytest.mark.django_db

PREFIX = "rocketscope_group_"


def test_a_group_that_is_known_has_every_figure(write: Write) -> None:
    row = overview_row(
        "orders",
        lag=600,
        oldest_ms=2_500,
        rate_in=10.0,
        rate_out=40.0,
        unowned=2,
        idle=1,
        skew=1.5,
        status={"level": "warn", "word": "falling_behind"},
        findings=[{"key": "unowned_queues", "level": "crit"}],
    )
    write(looked_at(groups=[row]))
    found = scrape("/metrics/groups")
    assert of(found, "hangzhou|orders") == {
        PREFIX + "lag_messages": 600,
        PREFIX + "oldest_message_age_seconds": 2.5,
        PREFIX + "oldest_message_complete": 1,
        PREFIX + "drain_seconds": 20,
        PREFIX + "in_messages_per_second": 10,
        PREFIX + "out_messages_per_second": 40,
        PREFIX + "members": 3,
        PREFIX + "idle_members": 1,
        PREFIX + "queues": 16,
        PREFIX + "unowned_queues": 2,
        PREFIX + "skew_ratio": 1.5,
        PREFIX + "severity": 1,
        PREFIX + "complete": 1,
    }
    assert found[PREFIX + "finding|hangzhou|unowned_queues|orders|crit"] == 1


def test_what_is_not_known_has_no_sample(write: Write) -> None:
    unknown = {"lag": None, "oldest_ms": None, "rate_in": None, "rate_out": None}
    row = overview_row(
        "prices",
        **unknown,
        lag_partial=True,
        members=None,
        skew=None,
        complete=False,
        status={"level": "unk", "word": "unknown"},
    )
    write(looked_at(groups=[row]))
    assert of(scrape("/metrics/groups"), "hangzhou|prices") == {
        PREFIX + "queues": 16,
        PREFIX + "complete": 0,
    }


def test_the_time_to_drain_is_that_of_the_whole_lag(write: Write) -> None:
    write(
        looked_at(
            groups=[
                overview_row("never", lag=9, rate_in=5.0, rate_out=5.0),
                overview_row("part", lag=9, lag_partial=True, rate_out=900.0),
                overview_row("none", lag=0, rate_in=5.0, rate_out=5.0),
            ]
        )
    )
    found = scrape("/metrics/groups")
    assert found[PREFIX + "drain_seconds|hangzhou|never"] == math.inf
    assert found[PREFIX + "drain_seconds|hangzhou|none"] == 0
    assert PREFIX + "drain_seconds|hangzhou|part" not in found


@pytest.mark.parametrize(
    "part", [{"complete": False}, {"lag_partial": True}, {"rate_partial": True}]
)
def test_a_part_is_told_and_has_no_time_to_drain(
    write: Write, part: dict[str, bool]
) -> None:
    row = overview_row("orders", lag=9, rate_in=1.0, rate_out=4.0, **part)
    write(looked_at(groups=[row]))
    found = of(scrape("/metrics/groups"), "hangzhou|orders")
    assert found[PREFIX + "complete"] == 0
    assert PREFIX + "drain_seconds" not in found
    assert found[PREFIX + "lag_messages"] == 9


def test_an_age_that_may_be_higher_is_told(write: Write) -> None:
    write(looked_at(groups=[overview_row("orders", oldest_partial=True)]))
    found = of(scrape("/metrics/groups"), "hangzhou|orders")
    assert found[PREFIX + "oldest_message_complete"] == 0


def test_owners_are_counted_only_where_a_queue_has_one(write: Write) -> None:
    write(looked_at(groups=[overview_row("pop", kind="shared_pop")]))
    found = scrape("/metrics/groups")
    assert PREFIX + "unowned_queues|hangzhou|pop" not in found
    assert PREFIX + "idle_members|hangzhou|pop" not in found


def test_a_group_that_could_not_be_judged_has_no_samples(write: Write) -> None:
    rows = [overview_row("orders"), overview_row("odd", fault="KeyError: 'x'")]
    write(looked_at(groups=rows))
    found = scrape("/metrics/groups")
    assert of(found, "hangzhou|orders")
    assert of(found, "hangzhou|odd") == {}


def test_an_old_list_gives_no_samples(write: Write) -> None:
    old = now_ms() - round(1000 * (OLD_AFTER_SECONDS + 1))
    write(overview(at=old))
    assert scrape("/metrics/groups") == {}
    assert scrape("/metrics")["rocketscope_sweep_age_seconds|hangzhou"] > 60


def test_names_of_groups_are_labels_whatever_they_contain(write: Write) -> None:
    name = 'a"b\\c\nd%RETRY%|é'
    write(looked_at(groups=[overview_row(name)]))
    assert scrape("/metrics/groups")[f"{PREFIX}members|hangzhou|{name}"] == 3


def test_one_cluster_can_be_asked_for(write: Write) -> None:
    write(looked_at())
    assert scrape("/metrics/groups?cluster=hangzhou") == scrape("/metrics/groups")
    answer = Client().get("/metrics/groups?cluster=nowhere")
    assert answer.status_code == 404
    assert answer.content == b"no cluster 'nowhere' is configured\n"


@pytest.mark.parametrize("path", ["/metrics/groups", "/metrics/queues?group=a"])
@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"])
def test_without_a_cache_nothing_is_known(
    path: str, url: str, settings: Any, hangzhou: object
) -> None:
    settings.ROCKETSCOPE_REDIS_URL = url
    answer = Client().get(path)
    assert answer.status_code == 503
    assert b"the cache is away" in answer.content


@pytest.mark.parametrize("path", ["/metrics", "/metrics/groups", "/metrics/queues"])
def test_only_reading_is_allowed(path: str) -> None:
    assert Client().post(path).status_code == 405
