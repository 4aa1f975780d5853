"""The database locked or away: hosted members and what is collected on that day."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection

from dashboard.fleet.claims import CLAIM_SECONDS
from dashboard.fleet.host import FleetHost
from dashboard.models import ManagedMember
from tests.dashboard.fleet.test_host import (
    Make,
    Now,
    client,
    cluster,
    followed,
    in_thread,
    make,
)
from tests.dashboard.fleet.wishes import group

__all__ = ["client", "cluster", "make"]

pytestmark = pytest.mark.django_db(transaction=True)

OUTAGE_SECONDS = 120


def lock_out(host: FleetHost, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(_work: Callable[[], Any]) -> Any:
        raise OperationalError("database is locked")

    monkeypatch.setattr(host, "_database", refuse)


async def wait_out(now: Now, *hosts: FleetHost) -> None:
    """Let the outage pass in steps of a second, as the host's own loops do."""
    for _ in range(OUTAGE_SECONDS):
        now.ahead += 1
        for host in hosts:
            await host.follow_once()
            host.look_at_claims()


async def test_two_minutes_without_the_database_end_no_member(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_thread(lambda: group(2))
    now = Now()
    host = make(now=now)
    await followed(host, [8, 8])
    before = dict(host.hosted)
    with monkeypatch.context() as outage:
        lock_out(host, outage)
        await wait_out(now, host)
        assert all(member.may_act for member in host.hosted.values())
    await host.follow_once()
    assert dict(host.hosted) == before
    assert {m.claim.fence for m in host.hosted.values()} == {1}


async def two_workers(make: Make) -> tuple[Now, FleetHost, FleetHost]:
    """Return two workers and their clock; the first hosts the group's member."""
    await in_thread(group)
    now = Now()
    host, other = make("w1", now), make("w2", now)
    await followed(host, [16])
    return now, host, other


async def test_nobody_takes_members_over_after_an_outage(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, host, other = await two_workers(make)
    with monkeypatch.context() as outage:
        lock_out(host, outage)
        lock_out(other, outage)
        await wait_out(now, host, other)
    await other.follow_once()
    assert other.hosted == {}
    await host.follow_once()
    assert [m.claim.fence for m in host.hosted.values()] == [1]


async def test_a_worker_alone_without_the_database_owns_alone(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, host, other = await two_workers(make)
    lock_out(host, monkeypatch)
    await wait_out(now, host, other)
    assert (len(host.hosted), len(other.hosted)) == (1, 0)
    monkeypatch.undo()
    await host.follow_once()


async def test_without_database_and_cache_members_are_let_go(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, host, other = await two_workers(make)

    async def unheard() -> None:
        return None

    with monkeypatch.context() as outage:
        lock_out(host, outage)
        outage.setattr(host._heartbeats, "beat", unheard)
        now.ahead += CLAIM_SECONDS
        await host.follow_once()
        host.look_at_claims()
        assert host.hosted == {}
        outage.setattr(other._heartbeats, "beat", unheard)
        await other.follow_once()
        assert other.hosted == {}, "who hears nothing of others takes nothing over"


@contextmanager
def locked_file() -> Iterator[None]:
    """Hold the write lock of the tests' database from another connection."""
    name = connection.settings_dict["NAME"]
    other = sqlite3.connect(name, uri=True, isolation_level=None, timeout=0)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def wait_briefly_for_locks() -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="locks a file of SQLite")
async def test_a_locked_file_ends_no_member(make: Make) -> None:
    await in_thread(group)
    now = Now()
    host = make(now=now)
    await followed(host, [16])
    await host._database(wait_briefly_for_locks)
    with locked_file():
        for _ in range(3):
            now.ahead += 5
            await host.follow_once()
            host.look_at_claims()
            assert host._out_since is not None
            assert [member.may_act for member in host.hosted.values()] == [True]
    await host.follow_once()
    row = await ManagedMember.objects.aget()
    assert (row.worker, row.fence) == ("w1", 1)
    assert row.claimed_until is not None
    assert row.claimed_until.timestamp() > now()
