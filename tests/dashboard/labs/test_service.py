"""The role that plays labs, on a real embedded cluster in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.utils import timezone

from dashboard.clock.ticks import Tick
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.labs.service import LabService
from dashboard.labs.writes import LabBusyError, cancel_lab, start_lab
from dashboard.live.names import live_labs_name
from dashboard.models import Cluster, LabRun, Role, User
from dashboard.models.lab import LAB_LOST_AFTER
from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster
from rmqcore.labs import lab_named, run_prefix
from tests.support.valkey import Valkey
from tests.support.waiting import until_seen

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def local(valkey: Valkey, settings: object) -> AsyncIterator[LocalCluster]:
    async with LocalCluster() as cluster:
        found = ClusterSettings(
            "embedded", (cluster.nameserver_address,), embedded=True
        )
        settings.ROCKETSCOPE_CLUSTERS = {"embedded": found}  # type: ignore[attr-defined]
        await sync_to_async(sync_clusters)({"embedded": found})
        yield cluster


@pytest.fixture
async def service(local: LocalCluster) -> AsyncIterator[LabService]:
    service = LabService("w1")
    await sync_to_async(service.start)()
    yield service
    await sync_to_async(service.stop, thread_sensitive=False)()


def start(lab: str, **parameters: int) -> LabRun:
    user, _made = User.objects.get_or_create(username="olga", role=Role.OPERATOR)
    cluster = Cluster.objects.get(name="embedded")
    return start_lab(user, cluster, lab, parameters=parameters)


async def seen(run: LabRun, holds: Callable[[LabRun], bool]) -> LabRun:
    async def look() -> LabRun:
        return await LabRun.objects.aget(pk=run.pk)

    return await until_seen(look, holds)


async def names(cluster: LocalCluster) -> list[str]:
    admin = Admin(cluster.nameserver_address)
    try:
        return [t for t in await admin.topic_names() if "LAB_" in t]
    finally:
        await admin.close()


async def test_a_lab_is_played_and_leaves_nothing_behind(
    local: LocalCluster, service: LabService
) -> None:
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(live_labs_name("embedded"), channel)
    run = await sync_to_async(start)("F5", queues=3)
    run = await seen(run, lambda row: not row.is_active)
    assert (run.state, run.error) == ("done", "")
    assert run.all_seen
    assert run.finding == "idle_members"
    divisions = [step for step in run.steps if step["key"] == "division"]
    assert divisions[2]["params"]["parts"] == {"c1": [0], "c2": [1], "c3": [2]}
    assert run.claims[0]["key"] == "F5.rule"
    message = await layer.receive(channel)
    assert f'"run":"{run.pk}"' in message["text"]
    assert await names(local) == []


async def test_a_cancelled_lab_cleans_up_first(
    local: LocalCluster, service: LabService
) -> None:
    run = await sync_to_async(start)("F7")
    run = await seen(
        run, lambda row: any(step["key"] == "F7.waiting" for step in row.steps)
    )
    with pytest.raises(LabBusyError, match="F7 is already being played"):
        await sync_to_async(start)("F7")
    user = await User.objects.aget(username="olga")
    await sync_to_async(cancel_lab)(user, run)
    run = await seen(run, lambda row: not row.is_active)
    assert (run.state, run.error) == ("cancelled", "")
    assert await names(local) == []


async def test_what_a_killed_worker_left_is_deleted_by_the_next(
    local: LocalCluster,
) -> None:
    run = await sync_to_async(start)("F5")
    prefix = run_prefix(run.lab, run.label)
    await lab_named("F5").run(
        nameservers=local.nameserver_address, label=run.label, clean_up=False
    )
    await lab_named("F5").run(
        nameservers=local.nameserver_address, label="r0-", clean_up=False
    )
    assert any(name.startswith(prefix) for name in await names(local))
    long_ago = timezone.now() - 2 * LAB_LOST_AFTER
    running = LabRun.State.RUNNING
    await LabRun.objects.aupdate(state=running, worker="gone", seen_at=long_ago)
    service = LabService("w2")
    await sync_to_async(service.start)()
    try:
        run = await seen(
            run, lambda row: row.state == LabRun.State.FAILED and not row.left_over
        )
    finally:
        await sync_to_async(service.stop, thread_sensitive=False)()
    assert run.error == "the worker that played this has gone"
    left = await names(local)
    assert left
    assert not [name for name in left if prefix in name]


async def test_a_stopped_worker_says_so(local: LocalCluster) -> None:
    service = LabService("w1")
    await sync_to_async(service.start)()
    run = await sync_to_async(start)("F7")
    await seen(run, lambda row: bool(row.steps))
    await sync_to_async(service.stop, thread_sensitive=False)()
    await run.arefresh_from_db()
    assert run.state == "cancelled"
    assert run.error == "the worker that played this was stopped"


async def test_two_labs_run_side_by_side_and_failures_are_told(
    local: LocalCluster, service: LabService
) -> None:
    runs = [await sync_to_async(start)(lab) for lab in ("F1", "F2")]
    for run in runs:
        ended = await seen(run, lambda row: not row.is_active)
        assert (ended.state, ended.error) == ("done", "")
    await local.stop()
    run = await sync_to_async(start)("F1")
    ended = await seen(run, lambda row: not row.is_active)
    assert ended.state == "failed"
    assert ended.error


def test_without_an_embedded_cluster_no_run_is_claimed(
    valkey: Valkey, settings: object
) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {  # type: ignore[attr-defined]
        "east": ClusterSettings("east", ("127.0.0.1:1",))
    }
    service = LabService("w1")
    service.start()
    service.receive(Tick("rebalance", 1, 20.0, "beat"))
    service.stop()
