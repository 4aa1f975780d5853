"""Remembers a cluster's brokers beyond one collector's life, until they are gone.

A broker that is no longer named stays, as missing, until somebody says that it is gone
for good or until the name servers have left it out for all of `GONE_AFTER_MS`. Rows are
written when their content has changed, which is seldom.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any, Final

from django.db import transaction

from dashboard import models
from rmqcore.model import Perm, QueueData
from rmqcore.model.snapshot import KnownBroker

GONE_AFTER_MS: Final = 24 * 3600 * 1000


def gone_brokers(
    brokers: Iterable[KnownBroker], said: Collection[str], now_ms: int
) -> list[str]:
    """Return the names of missing brokers that now count as gone."""
    return [
        broker.name
        for broker in brokers
        if broker.missing_since_ms is not None
        and (broker.name in said or now_ms - broker.missing_since_ms >= GONE_AFTER_MS)
    ]


def load_brokers(cluster_id: int) -> list[KnownBroker]:
    """Return the brokers that a cluster was last seen to have."""
    return [
        KnownBroker(
            row.name,
            row.cluster_name,
            {int(number): at for number, at in row.addresses.items()},
            {
                topic: QueueData(row.name, read, write, Perm(perm))
                for topic, (read, write, perm) in row.topics.items()
            },
            None
            if row.missing_since is None
            else round(row.missing_since.timestamp() * 1000),
        )
        for row in models.KnownBroker.objects.filter(cluster_id=cluster_id)
    ]


@transaction.atomic
def save_brokers(
    cluster_id: int, changed: Iterable[KnownBroker], gone: Collection[str]
) -> None:
    """Write the brokers that changed, and remove those that are gone."""
    rows = models.KnownBroker.objects.filter(cluster_id=cluster_id)
    rows.filter(name__in=gone).delete()
    for broker in changed:
        rows.update_or_create(
            cluster_id=cluster_id, name=broker.name, defaults=_fields(broker)
        )


def _fields(broker: KnownBroker) -> dict[str, Any]:
    missing_ms = broker.missing_since_ms
    return {
        "cluster_name": broker.cluster,
        "addresses": {str(number): at for number, at in broker.addresses.items()},
        "topics": {
            name: [data.read_queue_nums, data.write_queue_nums, int(data.perm)]
            for name, data in broker.topics.items()
        },
        "missing_since": None
        if missing_ms is None
        else datetime.fromtimestamp(missing_ms / 1000, UTC),
    }
