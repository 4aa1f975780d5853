"""Settings of brokers side by side, on a real embedded cluster and by hand."""

from __future__ import annotations

import asyncio

import pytest

from dashboard.gateway.broker_settings import (
    BrokerSettings,
    ask_settings,
    is_secret,
    settings_table,
)
from dashboard.gateway.configured import MASKED
from tests.support.cluster import local_cluster, settings_of


def told(name: str, values: dict[str, str] | None, error: str = "") -> BrokerSettings:
    return BrokerSettings(name, 0, f"{name}:10911", values, error or None)


def test_settings_that_differ_are_marked_but_for_those_that_have_to() -> None:
    found = settings_table(
        [
            told("a", {"fileReservedTime": "72", "brokerName": "a", "x": "1"}),
            told("b", {"fileReservedTime": "48", "brokerName": "b"}),
            told("c", None, "no answer"),
        ]
    )
    rows = {row.name: (row.values, row.differs) for row in found.rows}
    assert rows["fileReservedTime"] == (["72", "48"], True)
    assert rows["brokerName"] == (["a", "b"], False)
    assert rows["x"] == (["1", None], True)
    assert [each.name for each in found.silent] == ["c"]


def test_secrets_are_hidden_and_a_difference_between_them_is_told() -> None:
    found = settings_table(
        [told("a", {"tlsKeyPassword": "one"}), told("b", {"tlsKeyPassword": "two"})]
    )
    (row,) = found.rows
    assert (row.values, row.differs) == ([MASKED, MASKED], True)
    assert [each.values for each in found.answered] == [{"tlsKeyPassword": MASKED}] * 2


@pytest.mark.parametrize(
    "name", ["tlsServerKeyPassword", "secretKey", "innerClientCredentials", "accessKey"]
)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret(name)
    assert not is_secret("fileReservedTime")


async def test_a_real_broker_tells_its_settings() -> None:
    async with local_cluster(brokers=2) as running:
        found = await asyncio.to_thread(ask_settings, settings_of(running))
    rows = {row.name: row for row in found.rows}
    assert len(found.answered) == 2
    assert rows["fileReservedTime"].values == ["72", "72"]
    assert not rows["fileReservedTime"].differs
