from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from django.db import DatabaseError

from dashboard import models
from dashboard.collector import keeping
from dashboard.collector.keeping import Keeper
from dashboard.collector.known_brokers import (
    GONE_AFTER_MS,
    gone_brokers,
    load_brokers,
    save_brokers,
)
from rmqcore.model import Perm, QueueData
from rmqcore.model.snapshot import KnownBroker

from .sights import NOW

pytestmark = pytest.mark.django_db(transaction=True)

TOPICS = {"orders": QueueData("a", 4, 8, Perm.READ | Perm.WRITE)}
NAMED = KnownBroker("a", "DefaultCluster", {0: "10.0.0.1:10911"}, TOPICS)
MISSING = replace(NAMED, missing_since_ms=NOW)


def test_a_missing_broker_is_gone_when_somebody_says_so_or_after_a_day() -> None:
    assert gone_brokers([NAMED, MISSING], (), NOW) == []
    assert gone_brokers([MISSING], {"a"}, NOW) == ["a"]
    assert gone_brokers([MISSING], (), NOW + GONE_AFTER_MS) == ["a"]
    # Whoever is named is there, whatever was said.
    assert gone_brokers([NAMED], {"a"}, NOW + GONE_AFTER_MS) == []


def test_what_is_written_is_read_back() -> None:
    cluster = models.Cluster.objects.create(name="east")
    save_brokers(cluster.pk, [NAMED, replace(MISSING, name="b")], ())
    assert load_brokers(cluster.pk)[0] == NAMED
    assert load_brokers(cluster.pk)[1].missing_since_ms == NOW
    save_brokers(cluster.pk, [MISSING], ["b"])
    assert load_brokers(cluster.pk) == [MISSING]


async def test_only_what_changed_is_written_and_what_failed_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = await models.Cluster.objects.acreate(name="east")
    keeper = Keeper("east", cluster.pk, str(tmp_path), "run1")
    written: list[list[str]] = []

    def save(cluster_id: int, changed: list[KnownBroker], gone: set[str]) -> None:
        if not written:
            written.append([])
            raise DatabaseError("database is locked")
        written.append([broker.name for broker in changed])
        save_brokers(cluster_id, changed, gone)

    monkeypatch.setattr(keeping, "save_brokers", save)
    assert await keeper.load_brokers() == []
    for _ in range(3):
        await keeper.keep_brokers([NAMED])
    assert written == [[], ["a"]]
    await keeper.keep_brokers([])
    assert await keeper.load_brokers() == []
    await keeper.close(NOW)
