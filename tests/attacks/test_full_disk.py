"""The disk of the database or of the lake is full, or can only be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.collector import keeping
from dashboard.collector.keeping import Keeper
from dashboard.models import AuditEntry, Cluster, Role, User
from tests.dashboard.collector.sights import NOW
from tests.dashboard.collector.test_keeping import rows_of, samples, turn
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview
from tests.support.disks import SmallDisk, small_disk

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="limits SQLite"),
]

PASSWORD = "correct horse battery"


def pragma(text: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {text}")
        row = cursor.fetchone()
        return int(row[0]) if row else 0


def fill_audit(size: int) -> None:
    while True:
        now, text = timezone.now(), "x" * size
        AuditEntry.objects.create(at=now, action="filler", details={"x": text})


@contextmanager
def full() -> Iterator[None]:
    """Let SQLite find no room for one more page, and fill those that it has."""
    before = pragma("max_page_count")
    pragma(f"max_page_count = {pragma('page_count')}")
    try:
        for size in (100_000, 1_000, 0):
            with pytest.raises(OperationalError, match="database or disk is full"):
                fill_audit(size)
        yield
    finally:
        pragma(f"max_page_count = {before}")


@contextmanager
def read_only() -> Iterator[None]:
    pragma("query_only = 1")
    try:
        yield
    finally:
        pragma("query_only = 0")


Outage = Callable[[], AbstractContextManager[None]]
OUTAGES = pytest.mark.parametrize(
    ("outage", "said"),
    [
        (full, "The disk of the database is full."),
        (read_only, "The database can only be read, because its disk is read-only."),
    ],
)


@pytest.fixture
def olga() -> User:
    return User.objects.create_user("olga", password=PASSWORD, role=Role.OPERATOR)


@OUTAGES
def test_pages_are_read_and_a_change_is_refused_in_words(
    sign_in: SignIn, olga: User, outage: Outage, said: str, write: Write
) -> None:
    write(overview())
    reader, writer = sign_in(Role.ADMIN), Client()
    form = {"username": "olga", "password": PASSWORD}
    with outage():
        for page in ("/clusters/hangzhou/", "/reports/", "/audit/", "/settings/"):
            assert reader.get(page).status_code == 200, page
        refused = writer.post(reverse("sign_in"), form)
        assert refused.status_code == 503
        assert said in refused.content.decode()
        assert refused["Retry-After"]
    assert writer.post(reverse("sign_in"), form).status_code == 302


@OUTAGES
def test_programs_are_told_as_well(
    sign_in: SignIn, outage: Outage, said: str, write: Write
) -> None:
    write(overview())
    client = sign_in(Role.OPERATOR)
    body = {"name": "n" * 100, "cluster": "hangzhou", "period": "24h"}
    with outage():
        answer = client.post(
            "/api/v1/reports/definitions", body, content_type="application/json"
        )
        assert answer.status_code == 503, answer.content
        assert answer.json() == {"detail": said}


def test_the_list_says_that_epochs_wait_until_they_are_written(
    sign_in: SignIn, write: Write
) -> None:
    fault = {"error": "database or disk is full", "pending_rows": 3}
    write({**overview(), "database": fault})
    page = sign_in(Role.VIEWER).get("/clusters/hangzhou/").content.decode()
    assert "The database cannot be written." in page
    assert "3 rows wait in memory" in page


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", 1) as disk:
        yield disk


@pytest.fixture
def keeper(disk: SmallDisk) -> Keeper:
    cluster = Cluster.objects.create(name="east")
    return Keeper("east", cluster.pk, str(disk.path / "lake"), "run1")


async def test_epochs_that_the_database_refuses_are_written_later(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: Any) -> None:
        raise OperationalError("database or disk is full")

    keeper.add_turn("g", turn("c1"))
    with monkeypatch.context() as patched:
        patched.setattr(keeping, "save_turns", refuse)
        await keeper.keep(None, NOW)
        assert keeper.database_fault == {
            "error": "database or disk is full",
            "pending_rows": 1,
        }
    await keeper.keep(None, NOW)
    assert keeper.database_fault is None
    await keeper.close(NOW)


@pytest.mark.parametrize("kind", ["full", "read_only"])
async def test_samples_wait_for_the_lake_and_none_is_lost(
    keeper: Keeper, disk: SmallDisk, kind: str
) -> None:
    minute, lake = 60_000, disk.path / "lake"
    await keeper.keep(samples(), NOW)
    await keeper.keep(samples(), NOW + 2 * minute)
    written = len(rows_of(lake, "samples"))
    disk.fill() if kind == "full" else disk.lock()
    for number in (4, 6):
        await keeper.keep(samples(), NOW + number * minute)
        assert keeper.lake_fault is not None
    wanted = "No space left" if kind == "full" else "Read-only"
    assert wanted in keeper.lake_fault["error"]
    disk.make_room() if kind == "full" else disk.unlock()
    await keeper.keep(samples(), NOW + 8 * minute)
    assert keeper.lake_fault is None
    await keeper.close(NOW + 10 * minute)
    assert len(rows_of(lake, "samples")) == written + 4 * len(samples())
