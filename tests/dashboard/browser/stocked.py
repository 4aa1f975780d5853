"""A running cluster with one of everything that a page of ours can show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.utils import timezone

from dashboard import models
from dashboard.clients.asking import take_stacks
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.state import make_async_client
from dashboard.models import AuditEntry, User
from dashboard.models.audit import record
from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message
from tests.dashboard.alerts.made import one_of_each_alert
from tests.dashboard.alerts.tried import finished_trial
from tests.dashboard.reports.finished import finished_run, two_epochs
from tests.support.cluster import TOPIC, join, local_cluster
from tests.support.collectors import make_collector
from tests.support.valkey import Valkey

CLUSTER: Final = "hangzhou"
GROUP: Final = "order-settlement"
PLACE: Final = f"topic={TOPIC}&broker=broker-a&queue=0&offset=0"
CHANGES: Final = ("topic", "group", "broker", "user")


@dataclass(frozen=True, slots=True)
class Stocked:
    """What addresses need to name of what is there."""

    client_id: str
    stacks: str
    changes: dict[str, int]
    """The number of an audited change of each kind."""


@asynccontextmanager
async def stocked(valkey: Valkey, settings: Any, lake: Path) -> AsyncIterator[Stocked]:
    """Run a cluster in which two members share a topic, looked at and swept."""
    async with local_cluster(queues=8, brokers=2) as cluster:
        given = ClusterSettings(
            CLUSTER, (cluster.nameserver_address,), writes=True, embedded=True
        )
        settings.ROCKETSCOPE_CLUSTERS = {CLUSTER: given}
        settings.ROCKETSCOPE_LAKE_URL = str(lake)
        await sync_to_async(sync_clusters)(settings.ROCKETSCOPE_CLUSTERS)
        await _send(cluster)
        members = [await join(cluster, name, group=GROUP) for name in ("m1", "m2")]
        await _sweep(valkey, given, lake)
        client_id = members[0].client_id
        stacks = await sync_to_async(take_stacks)(CLUSTER, GROUP, client_id)
        changes = await sync_to_async(_rows)(lake)
        yield Stocked(client_id, stacks, changes)
        for member in members:
            await member.shutdown()


async def _send(cluster: LocalCluster) -> None:
    producer = Producer(cluster.nameserver_address, group="sellers")
    await producer.start()
    for number in range(40):
        body = b'{"event": "paid", "n": %d}' % number
        message = Message.of(TOPIC, body, tags="red", keys=[f"k-{number}"])
        await producer.send(message)
    await producer.shutdown()


async def _sweep(valkey: Valkey, given: ClusterSettings, lake: Path) -> None:
    row = await models.Cluster.objects.aget(name=CLUSTER)
    client = make_async_client(valkey.url)
    connection = ClusterConnection(given)
    collector = make_collector(row, connection, client, lake)
    for _ in range(2):
        await collector.sweep_all()
    await collector.close()
    await client.aclose()
    await connection.close()


def _rows(lake: Path) -> dict[str, int]:
    """Store one of everything, with the number 1 where addresses have numbers."""
    owner = User.objects.create_user("one", pk=1)
    two_epochs()
    finished_run(lake, pk=1)
    finished_trial(pk=2)
    one_of_each_alert()
    cluster = models.Cluster.objects.get(name=CLUSTER)
    now = timezone.now()
    asked = {"asked_at": now, "asked_by_name": "olga"}
    models.LabRun.objects.create(pk=1, cluster=cluster, lab="F5", **asked)
    models.ResendRun.objects.create(
        pk=1,
        cluster=cluster,
        group=GROUP,
        target=models.ResendRun.Target.GROUP,
        rate=10,
        reason="the listener is mended",
        by_name="olga",
        at=now,
        state=models.ResendRun.State.DONE,
        finished_at=now,
    )
    models.ReportDefinition.objects.create(
        pk=1, name="Daily", cluster=CLUSTER, period="day"
    )
    team = models.Team.objects.create(
        pk=1, name="Orders", contact="https://chat.example.org/orders", note="9 to 18"
    )
    team.members.add(owner)
    models.Ownership.objects.create(team=team, groups="order-*")
    models.GroupNote.objects.create(cluster=CLUSTER, group=GROUP, text="Pays sellers.")
    name = {"cluster": cluster, "group": GROUP}
    models.SavedScenario.objects.create(
        pk=1, name="x", shared=True, owner=owner, **name
    )
    hosted = models.ManagedGroup.objects.create(
        pk=1, cluster=cluster, name=GROUP, topics=[{"topic": TOPIC, "expression": "*"}]
    )
    state = {"strategy": "AVG", "strategy_options": {}, "members": []}
    models.GroupChange.objects.create(
        pk=1, group=hosted, before=state, after=state, revision=1, at=now
    )
    moved = {"broker": "broker-a", "queue_id": 0, "before": 3, "asked": 0, "stood": 0}
    models.OffsetChange.objects.create(
        pk=1,
        topic=TOPIC,
        query=f"to=earliest&topic={TOPIC}",
        rows=[{**moved, "problem": ""}],
        by=owner,
        at=now,
        **name,
    )
    return {kind: _changed(kind).pk for kind in CHANGES}


def _changed(kind: str) -> AuditEntry:
    step = {
        "place": "broker-a",
        "address": "127.0.0.1:10911",
        "before": {"perm": "6"},
        "after": {"perm": "4"},
        "now": {"perm": "4"},
        "state": "done",
        "error": "",
    }
    details = {"state": "done", "kind": kind, "name": "x", "action": "change"}
    return record(
        None,
        "configuration.change",
        target="x",
        cluster=CLUSTER,
        reason="CHG-7",
        details={**details, "scope": "", "undoes": None, "steps": [step]},
    )
