"""Periodic tasks of the analytics worker: roll up, keep lake and database small."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from celery import shared_task
from django.conf import settings
from django.db import connection

from analytics import contracts as c
from analytics.lake.compaction import absorb, compact
from analytics.lake.epoch_retention import oldest_kept_ms, thin_epochs
from analytics.lake.naming import COMPACT, LANDING, MANIFEST
from analytics.lake.retention import GRACE_MS, expire, sweep, sweep_landing
from analytics.lake.rung_retention import expire_rungs, sweep_rungs
from analytics.lake.source_log import CHECKPOINT
from analytics.lake.storage import Storage, open_storage
from analytics.lake.streamed import unread_files

from .kept import CHILD, SETTLED
from .retention import expire_rows
from .rolling import run_rollup
from .shrinking import give_pages_back
from .unread import note_given_up


@shared_task(name="dashboard.jobs.roll_up", ignore_result=True)
def roll_up() -> bool:
    """Bring the roll-ups up to what has landed; True when they are."""
    return run_rollup(settings.ROCKETSCOPE_LAKE_URL, CHILD)


@shared_task(name="dashboard.jobs.maintain_lake", ignore_result=True)
def maintain_lake() -> dict[str, int]:
    """List new files, merge small ones, remove old ones; return what was done.

    Nothing is removed within an hour of the worker's start or of a jump of the clock.
    """
    storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
    now_ms, settled_ms = int(time.time() * 1000), SETTLED.now_ms()
    done = {"merged": 0, "retired": 0, "deleted": 0, "epochs": 0}
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(storage, dataset)
        merged = compact(storage, dataset, now_ms)
        done["merged"] += merged if dataset == c.SAMPLES else 0
    if settled_ms is not None:
        _remove_old(storage, settled_ms, done)
    return done


def _remove_old(storage: Storage, now_ms: int, done: dict[str, int]) -> None:
    done["retired"] = expire(storage, c.SAMPLES, now_ms)
    unread = unread_files(storage, c.SAMPLES)
    swept = sweep_landing(storage, c.SAMPLES, now_ms, unread)
    note_given_up(swept.given_up, now_ms)
    done["deleted"] = swept.deleted
    kept_ms = dict(zip(c.ROLLUP_LEVELS, _rollup_kept_ms(), strict=True))
    done["retired"] += expire_rungs(storage, now_ms, kept_ms)
    done["deleted"] += sweep_rungs(storage, now_ms)
    for folder in (LANDING, COMPACT, MANIFEST, CHECKPOINT):
        done["deleted"] += storage.delete_halves(folder, now_ms - GRACE_MS)
    done["epochs"] = thin_epochs(storage, oldest_kept_ms(storage, now_ms), now_ms)
    sweep(storage, c.EPOCHS, now_ms)


@shared_task(name="dashboard.jobs.expire_rows", ignore_result=True)
def expire_old_rows() -> dict[str, int]:
    """Delete the expired rows of each table, and give unneeded space back.

    No row is deleted within an hour of the worker's start or of a jump of the clock.
    """
    settled_ms = SETTLED.now_ms()
    gone = {}
    if settled_ms is not None:
        gone = expire_rows(datetime.fromtimestamp(settled_ms / 1000, UTC))
    give_pages_back(connection)
    return gone


def _rollup_kept_ms() -> list[int]:
    return [days * 24 * 3_600_000 for days in settings.ROCKETSCOPE_ROLLUP_DAYS]
