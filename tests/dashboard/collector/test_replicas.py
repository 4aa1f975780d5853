"""What is said of the slaves that follow a master, and why it is not known."""

from __future__ import annotations

from unittest.mock import AsyncMock

import pytest

from dashboard.collector.replicas import replicas_of
from dashboard.gateway.broker_runtime import Told, ask_brokers
from rmqcore.admin import Admin
from rmqcore.errors import ResponseError
from rmqcore.protocol.bodies import HaStatus
from tests.support.cluster import local_cluster

MASTER = "10.0.0.1:10911"
SLAVES = (
    {"addr": "10.0.0.3:51002", "slaveAckOffset": -1, "diff": 5_001, "inSync": False},
    {"addr": "10.0.0.2:51001", "slaveAckOffset": 4_800, "diff": 200, "inSync": True},
)


def told(status: HaStatus | None, why: str | None = None) -> Told:
    return Told(MASTER, {}, replicas=status, replicas_why=why)


def test_slaves_are_told_with_how_far_they_follow() -> None:
    found, why = replicas_of(told(HaStatus(True, 5_000, 1, SLAVES)))
    assert why is None
    assert found == {
        "in_sync": 1,
        "followers": [
            {"address": "10.0.0.2:51001", "behind_bytes": 200, "in_sync": True},
            {"address": "10.0.0.3:51002", "behind_bytes": None, "in_sync": False},
        ],
    }


def test_what_an_answer_leaves_out_is_not_known() -> None:
    found, _ = replicas_of(told(HaStatus(True, 5_000, 2, ({},))))
    assert found is not None
    assert found["followers"] == [
        {"address": "", "behind_bytes": None, "in_sync": False}
    ]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (None, "older_broker"),
        (None, None),
        (HaStatus(False, 0, 0), None),
    ],
)
def test_a_process_that_tells_none_has_none(
    status: HaStatus | None, why: str | None
) -> None:
    assert replicas_of(told(status, why)) == (None, why)


@pytest.mark.embedded
async def test_only_masters_are_asked_and_what_they_refuse_has_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        local_cluster() as cluster,
        Admin(cluster.nameserver_address) as admin,
    ):
        (broker,) = await admin.brokers()
        address = str(broker.master)

        async def ask(*masters: str) -> Told:
            (answer,) = await ask_brokers(admin, [address], (), masters)
            return answer

        assert replicas_of(await ask(address)) == (
            {"in_sync": 0, "followers": []},
            None,
        )
        assert replicas_of(await ask()) == (None, None)

        for code, why in ((3, "older_broker"), (1, "refused")):
            error = ResponseError(code, "", request_code=907, address=address)
            monkeypatch.setattr(admin, "ha_status", AsyncMock(side_effect=error))
            assert (await ask(address)).replicas_why == why
