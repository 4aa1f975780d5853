"""Many who ask at the same moment get no more than one after the other would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from dashboard.accounts.attempts import record_refusal
from dashboard.config.celery import app
from dashboard.hosting.writes import GroupWish, save_group
from dashboard.models import Cluster, Role, User
from dashboard.models.audit import SIGN_IN
from dashboard.models.counting import count_alone
from dashboard.reports.definitions import DefinitionFields, save_definition
from dashboard.reports.writes import Content, start_report
from dashboard.whatif.writes import save_scenario
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SINCE = datetime(2026, 3, 13, tzinfo=UTC)


def report(by: User) -> None:
    until = SINCE + timedelta(hours=1)
    start_report(cluster="hangzhou", group="g", since=SINCE, until=until, by=by)


def definition(by: User) -> None:
    wish = DefinitionFields(Content(name="d"), "hangzhou")
    save_definition(wish, by=by)


def group(_by: User) -> None:
    save_group(None, GroupWish("hangzhou", "g", [("orders", "*")]), members=1)


def scenario(by: User) -> None:
    cluster = Cluster.objects.get(name="hangzhou")
    query = {"name": "s", "query": "v=1", "shared": False}
    save_scenario(by, cluster=cluster, group="g", **query)  # type: ignore[arg-type]


def attempt(_by: User) -> None:
    record_refusal(SIGN_IN, "name", "10.0.0.1")


@pytest.fixture
def olga(hangzhou: object, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(app, "send_task", lambda _name, args: None)
    return User.objects.create_user("olga", role=Role.OPERATOR)


@pytest.fixture
def other() -> Iterator[Any]:
    """Another connection to the same database, in a transaction."""
    other = connection.copy()
    other.set_autocommit(False)
    yield other
    other.close()


def waiting_for_others() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time"
)
@pytest.mark.parametrize(
    ("kind", "work"),
    [
        ("reports", report),
        ("report definitions", definition),
        ("hosted groups", group),
        ("hosted members", group),
        ("scenarios", scenario),
        ("refused attempts", attempt),
    ],
)
def test_who_counts_waits_until_the_other_has_added(
    olga: User, other: Any, kind: str, work: Callable[[User], None]
) -> None:
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [kind])
    failed: list[Exception] = []

    def do() -> None:
        try:
            work(olga)
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    asking = threading.Thread(target=do)
    asking.start()
    try:
        wait_until(waiting_for_others)
    finally:
        other.rollback()
        asking.join()
    assert failed == []


def test_nobody_counts_outside_of_a_transaction() -> None:
    with pytest.raises(TransactionManagementError, match="'reports'"):
        count_alone("reports")
    with transaction.atomic():
        count_alone("reports")
