"""The collector as its worker runs it: a loop, a thread for the leases, ticks."""

from __future__ import annotations

import threading
import time
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import floor
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from dashboard.alerting.records import write_news
from dashboard.clock.ticks import COLLECTOR_PERIOD_S, SWEEP_ALL, Tick
from dashboard.collector import service as service_module
from dashboard.collector.collected import Collected
from dashboard.collector.service import CollectorService, Wanted
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.metrics import worker_metrics
from dashboard.live.names import lease_key
from dashboard.live.state import live_state
from dashboard.models import Alert, Cluster
from rmqcore.timers import Schedule
from tests.dashboard.alerting.written import make_rule, opening
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS, until_seen, wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ALL_S = COLLECTOR_PERIOD_S[SWEEP_ALL]
LESS_MS = 12_000
"""Less than a lease lasts, and more than a busy machine keeps its thread waiting."""


@contextmanager
def running(
    settings: Any, name: str = "c1@host", clusters: Sequence[str] = ("east",)
) -> Iterator[CollectorService]:
    """Run a collector of clusters that cannot be reached."""
    settings.ROCKETSCOPE_CLUSTERS = {
        each: ClusterSettings(each, ("127.0.0.1:1",)) for each in clusters
    }
    service = CollectorService(name)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def standing_still(service: CollectorService) -> Iterator[None]:
    """Hold the loop of a collector, so that nothing else runs on it."""
    held, released = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        released.wait(PATIENCE_SECONDS)

    service._thread.call_soon(hold)
    assert held.wait(PATIENCE_SECONDS)
    try:
        yield
    finally:
        released.set()


@pytest.fixture
def service(valkey: Valkey, settings: Any) -> Iterator[CollectorService]:
    with running(settings) as service:
        yield service


def leader(cluster: str = "east") -> bytes | None:
    found: Any = live_state().client.get(lease_key(cluster))
    return found if found is None else bytes(found)


def wait_for_the_lead(cluster: str = "east") -> bytes:
    async def look() -> bytes | None:
        return leader(cluster)

    found = async_to_sync(until_seen)(look, lambda token: token is not None)
    assert found is not None
    return found


def test_keeps_its_leads_while_its_loop_stands_still(
    service: CollectorService,
) -> None:
    token = wait_for_the_lead()
    client = live_state().client
    lease = service._collected["east"].collector.lease
    wait_until(lambda: lease.token == token.decode(), "the loop knows that it leads")

    async def look() -> int:
        left: Any = client.pttl(lease_key("east"))
        return int(left)

    with standing_still(service):
        client.pexpire(lease_key("east"), LESS_MS)
        async_to_sync(until_seen)(look, lambda left: left > LESS_MS or left < 0)
        assert leader() == token


def test_gives_its_leads_up_when_it_stops(valkey: Valkey, settings: Any) -> None:
    with running(settings):
        wait_for_the_lead()
    assert leader() is None


def test_tells_how_late_it_is_and_what_it_missed(service: CollectorService) -> None:
    now = time.time()

    def late() -> None:
        service._schedule = Schedule(now - 3 * ALL_S, COLLECTOR_PERIOD_S)
        slot = floor(now / ALL_S)
        service._take(Tick(SWEEP_ALL, slot, slot * ALL_S, "beat"))

    service._thread.call_soon(late)

    async def figures() -> dict[str, Any]:
        found: dict[str, Any] = worker_metrics(live_state()).get("c1@host", {})
        return found

    told = async_to_sync(until_seen)(
        figures, lambda found: found.get("worker", {}).get("missed", 0) > 0
    )
    assert told["worker"]["missed"] >= 2
    assert told["worker"]["late_ms"] >= 0
    assert told["clusters"]["east"]["lapses"] == 0


def test_clusters_that_come_and_go_are_collected_without_a_restart(
    service: CollectorService,
) -> None:
    west = Cluster.objects.create(name="west", name_servers=["127.0.0.1:1"])
    wait_for_the_lead()
    assert leader("west") is None

    async def lead() -> bytes | None:
        return leader("west")

    Cluster.objects.filter(pk=west.pk).update(attached=True, configured=True)
    async_to_sync(until_seen)(lead, lambda token: token is not None)
    Cluster.objects.filter(pk=west.pk).update(attached=False, configured=False)
    async_to_sync(until_seen)(lead, lambda token: token is None)
    assert leader() is not None


def test_alerts_of_a_cluster_end_when_it_is_removed(service: CollectorService) -> None:
    west = Cluster.objects.create(
        name="west", name_servers=["127.0.0.1:1"], attached=True, configured=True
    )
    wait_for_the_lead("west")
    for name in ("east", "west"):
        write_news(name, [opening(make_rule(name=name))], timezone.now())

    async def ends() -> list[tuple[str, str]]:
        found = Alert.objects.order_by("cluster").values_list("cluster", "end")
        return [(cluster, end) async for cluster, end in found]

    Cluster.objects.filter(pk=west.pk).update(attached=False, configured=False)
    expected = [("east", ""), ("west", "cluster")]
    async_to_sync(until_seen)(ends, lambda found: found == expected)


def test_a_cluster_that_does_not_close_costs_the_others_nothing(
    valkey: Valkey, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = Collected.close

    async def broken(self: Collected) -> None:
        await close(self)
        if self.collector.cluster == "east":
            raise OSError("the lake is full")

    monkeypatch.setattr(Collected, "close", broken)
    with running(settings) as service:
        wait_for_the_lead()
        west = ClusterSettings("west", ("127.0.0.1:1",))
        settings.ROCKETSCOPE_CLUSTERS = {"west": west}
        sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
        Cluster.objects.filter(name="east").delete()
        wanted = {"west": Wanted(west, Cluster.objects.get(name="west").pk)}
        service._thread.call(service._take_clusters(wanted), PATIENCE_SECONDS)

        async def look() -> bytes | None:
            return leader("west")

        assert async_to_sync(until_seen)(look, lambda token: token is not None)
        assert set(service._collected) == {"west"}


FOUR = ("east", "north", "south", "west")


def wait_for_shares(*sweeping: CollectorService, **shares: int) -> None:
    """Have everything swept until each collector leads so many of four clusters."""

    async def look() -> Counter[str]:
        for each in sweeping:
            each._thread.call_soon(each._sweep_all, 0, 0)
        tokens = (leader(each) for each in FOUR)
        return Counter(each.decode().partition("@")[0] for each in tokens if each)

    async_to_sync(until_seen)(look, lambda found: found == Counter(shares))


def test_two_divide_the_clusters_and_each_takes_over_all(
    valkey: Valkey, settings: Any
) -> None:
    with running(settings, "c1@host", FOUR) as one:
        wait_for_shares(one, c1=4)
        with running(settings, "c2@host", FOUR) as two:
            wait_for_shares(one, two, c1=2, c2=2)
        wait_for_shares(one, c1=4)
        with running(settings, "c2@host", FOUR) as two:
            wait_for_shares(one, two, c1=2, c2=2)
            assert one._renewals is not None
            with standing_still(one):  # as a killed one, which renews nothing
                one._renewals.stop()
                for each in FOUR:
                    if (leader(each) or b"").startswith(b"c1"):
                        live_state().client.pexpire(lease_key(each), 100)
                wait_for_shares(two, c2=4)
            wait_for_shares(one, two, c1=2, c2=2)


def test_cycles_are_collected_between_sweeps(
    settings: Any, monkeypatch: pytest.MonkeyPatch, valkey: Valkey
) -> None:
    monkeypatch.setattr(service_module, "GARBAGE_SWEEPS", 2)
    monkeypatch.setattr(service_module, "BETWEEN_SWEEPS_S", 0)

    class Knot:
        def __init__(self) -> None:
            self.own = self

    gone = weakref.ref(Knot())

    async def look() -> bool:
        return gone() is None

    with running(settings) as service:
        service._thread.call_soon(service._sweep_all, 0, 0)
        service._thread.call_soon(service._sweep_all, 0, 0)
        async_to_sync(until_seen)(look, lambda is_gone: is_gone)
