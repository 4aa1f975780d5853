"""`python -m rmqcore admin`, as a user runs it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from rmqcore.__main__ import main
from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageQueue
from rmqcore.model.topic import SubscriptionGroupConfig
from tests.support.ports import free_port

from .produced import send
from .scripted import ScriptedBroker, ScriptedNameServer, broker_data, busy, denied

Run = Callable[..., Awaitable[tuple[int, str, str]]]


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """One group, one topic of two queues, three messages, one of them consumed."""
    async with LocalCluster() as cluster, Admin(cluster.nameserver_address) as admin:
        await admin.create_topic("orders", 2)
        await admin.create_group(SubscriptionGroupConfig("billing"))
        queue = MessageQueue("orders", "broker-a", 1)
        await send(admin, [Message("orders", b"x")] * 3, queue)
        await admin.commit_offset("billing", queue, 1)
        yield cluster


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    async def run_admin(nameserver: str, *words: str) -> tuple[int, str, str]:
        arguments = ["admin", "--nameserver", nameserver, "--timeout", "1", *words]
        code = await asyncio.to_thread(main, arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run_admin


async def test_a_snapshot_as_a_document(cluster: LocalCluster, run: Run) -> None:
    code, out, _ = await run(cluster.nameserver_address, "snapshot", "--json")
    document = json.loads(out)
    assert code == 0
    assert set(document) >= {"taken_at", "brokers", "topics", "groups"}
    assert document["brokers"][0]["answered"] is True
    (group,) = [g for g in document["groups"] if g["name"] == "billing"]
    lags = {row["queue_id"]: row["lag"] for row in group["queues"]}
    assert lags == {0: None, 1: 2}
    assert group["queues"][0]["unknown"]["lag"] == "nothing_committed"
    assert group["queues"][1]["unknown"] == {
        "pulled": "not_asked",
        "lag_ms": "not_asked",
    }


async def test_one_group_asks_its_lag_in_time(cluster: LocalCluster, run: Run) -> None:
    arguments = ("snapshot", "--json", "--group", "billing")
    _, out, _ = await run(cluster.nameserver_address, *arguments)
    document = json.loads(out)
    assert [group["name"] for group in document["groups"]] == ["billing"]
    assert [topic["name"] for topic in document["topics"]] == ["orders"]
    assert document["groups"][0]["queues"][1]["lag_ms"] >= 0


async def test_a_snapshot_as_text(cluster: LocalCluster, run: Run) -> None:
    code, out, _ = await run(cluster.nameserver_address, "snapshot")
    assert code == 0
    assert "1 of 1 brokers answered" in out
    (line,) = [line for line in out.splitlines() if line.startswith("billing")]
    assert " ".join(line.split()) == "billing offline 0 2 2 of 1/2 queues offline"


async def test_a_group_as_text(cluster: LocalCluster, run: Run) -> None:
    _, out, _ = await run(cluster.nameserver_address, "snapshot", "--group", "billing")
    rows = [line.split() for line in out.splitlines() if line.startswith("orders")]
    assert [row[:6] for row in rows] == [
        ["orders", "broker-a", "0", "0", "0", "nothing"],
        ["orders", "broker-a", "1", "0", "3", "1"],
    ]
    assert "nobody" in out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("topics",), "orders"),
        (("groups",), "billing"),
        (("topics", "--system"), "TBW102"),
        (("brokers",), "broker-a"),
    ],
)
async def test_lists(
    cluster: LocalCluster, run: Run, words: tuple[str, ...], expected: str
) -> None:
    code, out, _ = await run(cluster.nameserver_address, *words)
    assert code == 0
    assert expected in out


async def test_a_topic_and_a_group_are_created(cluster: LocalCluster, run: Run) -> None:
    nameserver = cluster.nameserver_address
    await run(nameserver, "create-topic", "new", "--queues", "3")
    await run(nameserver, "create-group", "fresh")
    async with Admin(nameserver) as admin:
        assert len((await admin.topic_route("new")).subscribe_queues("new")) == 3
        assert "fresh" in await admin.group_configs()


async def assert_fails(
    run: Run, nameserver: str, words: list[str], *named: Any
) -> None:
    code, out, err = await run(nameserver, *words)
    assert (code, out) == (2, "")
    for text in named:
        assert str(text) in err
    assert "Traceback" not in err


async def test_an_unknown_group_is_named(cluster: LocalCluster, run: Run) -> None:
    nameserver = cluster.nameserver_address
    words = ["snapshot", "--group", "nobody"]
    await assert_fails(run, nameserver, words, nameserver, "'nobody'")


async def test_a_name_server_that_is_not_there(run: Run) -> None:
    dead = f"127.0.0.1:{free_port()}"
    await assert_fails(run, dead, ["snapshot"], "no name server answers", dead)


async def test_a_malformed_address(run: Run) -> None:
    await assert_fails(run, "nowhere", ["snapshot"], "'nowhere'", "host:port")


async def test_a_wrong_number_of_queues(cluster: LocalCluster, run: Run) -> None:
    words = ["create-topic", "T", "--queues", "0"]
    await assert_fails(run, cluster.nameserver_address, words, "queues is 0")


async def test_an_access_key_without_its_secret(
    cluster: LocalCluster, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMQCORE_ACCESS_KEY", "ak")
    nameserver = cluster.nameserver_address
    await assert_fails(run, nameserver, ["topics"], "secret key must not be empty")


async def test_requests_are_signed_with_the_keys_of_the_environment(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMQCORE_ACCESS_KEY", "ak")
    monkeypatch.setenv("RMQCORE_SECRET_KEY", "sk")
    async with ScriptedNameServer() as nameserver:
        await run(nameserver.address, "snapshot")
        (request,) = nameserver.requests
        assert request.ext_fields["AccessKey"] == "ak"


@pytest.mark.parametrize(("fault", "words"), [(busy, "OVERLOAD"), (denied, "wrong")])
async def test_a_cluster_of_which_nothing_is_known(
    run: Run, fault: Any, words: str
) -> None:
    async with ScriptedBroker() as broker:
        broker.fault_everywhere(fault)
        async with ScriptedNameServer(broker_data(broker)) as nameserver:
            named = ("no broker answered", broker.address, words)
            await assert_fails(run, nameserver.address, ["snapshot"], *named)
