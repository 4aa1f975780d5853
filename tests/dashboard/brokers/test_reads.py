"""What is said to be wrong with a broker process."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.brokers.reads import BrokerRow, broker_rows
from tests.dashboard.documents import overview
from tests.dashboard.reported import broker_state, brokers_document


def troubles(**changes: Any) -> list[tuple[str, str]]:
    return [*BrokerRow(broker_state(**changes), None).troubles]


@pytest.mark.parametrize(
    ("changes", "level", "said"),
    [
        ({"error": "timed out"}, "crit", "Does not answer: timed out"),
        ({"table": {"commitLogDiskRatio": "0.91"}}, "crit", "writes are refused"),
        ({"table": {"commitLogDiskRatio": "0.86"}}, "crit", "whatever their age"),
        ({"full_in_ms": 3_600_000}, "warn", "The disk is full in 1 h 00 m"),
        ({"table": {"pageCacheLockTimeMills": "1500"}}, "crit", "sends are refused"),
        (
            {"table": {"sendThreadPoolQueueHeadWaitTimeMills": "250"}},
            "warn",
            "Requests for sending wait 0.2 s",
        ),
        ({"behind_bytes": 300 << 20}, "warn", "300 MiB behind its master"),
        ({"figures": None}, "unk", "has not answered yet"),
    ],
)
def test_limits_are_those_at_which_brokers_refuse(
    changes: dict[str, Any], level: str, said: str
) -> None:
    ((found, text),) = troubles(**changes)
    assert found == level
    assert said in text


def test_a_healthy_broker_has_no_troubles() -> None:
    assert troubles() == []
    assert BrokerRow(broker_state(), None).level == "ok"


def test_a_limit_that_a_broker_sets_itself_counts() -> None:
    settings = {"diskSpaceWarningLevelRatio": "40"}
    (only,) = troubles(settings=settings)
    assert "writes are refused from 40 % on" in only[1]


def test_brokers_that_have_not_reported_are_listed_as_unknown() -> None:
    made = overview()
    rows = broker_rows(brokers_document(broker_state()), made)
    names = {row.state["name"] for row in rows}
    assert names == {each["name"] for each in made["brokers"]}
    (silent,) = [row for row in rows if row.state["name"] == "hz2@broker-b"]
    assert (silent.figures, silent.why("rates_in")) == (None, "never_answered")
