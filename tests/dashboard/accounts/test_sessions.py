from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.accounts import sessions
from dashboard.accounts.sessions import (
    MOST_PER_USER,
    SessionStore,
    digest_of,
    note_use,
    sessions_of,
)
from dashboard.models import Role, Session, User
from dashboard.models.session import MOST_BROWSER_CHARS

PASSWORD = "correct horse battery"


@pytest.fixture
def vera(db: None) -> User:
    return User.objects.create_user("vera", password=PASSWORD, role=Role.VIEWER)


@pytest.fixture
def client(vera: User) -> Client:
    client = Client()
    client.force_login(vera)
    return client


def lets_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def moved(**by: timedelta) -> None:
    """Make the only session look as old as asked for."""
    session = Session.objects.get()
    moments = {name: getattr(session, name) - span for name, span in by.items()}
    Session.objects.update(**moments)


def test_a_session_tells_whose_it_is_since_when_and_from_where(vera: User) -> None:
    client = Client(headers={"User-Agent": "x" * 1000}, REMOTE_ADDR="2001:db8::1")
    before = timezone.now()
    client.post("/sign-in/", {"username": "vera", "password": PASSWORD})
    session = Session.objects.get()
    assert session.pk == digest_of(client.cookies["rocketscope_session"].value)
    assert session.user == vera
    assert session.signed_in_at is not None
    assert before <= session.signed_in_at <= session.last_seen_at
    assert session.expire_date - session.signed_in_at == timedelta(days=30)
    assert (session.address, session.browser) == (
        "2001:db8::1",
        "x" * MOST_BROWSER_CHARS,
    )


def test_what_was_noted_stays_when_the_session_is_written_again(
    client: Client,
) -> None:
    before = Session.objects.values("signed_in_at", "expire_date", "user").get()
    session = client.session
    session["more"] = 1
    session.save()
    assert client.session["more"] == 1
    assert Session.objects.values("signed_in_at", "expire_date", "user").get() == before


def test_use_is_written_once_a_minute(client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert lets_in(client)
    assert not [each for each in queries if each["sql"].startswith("UPDATE")]
    moved(last_seen_at=timedelta(minutes=2))
    before = timezone.now()
    assert lets_in(client)
    assert Session.objects.get().last_seen_at >= before


def test_use_that_cannot_be_written_keeps_nobody_from_reading(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    class ReadOnly:
        @staticmethod
        def filter(**_lookups: object) -> type[ReadOnly]:
            return ReadOnly

        @staticmethod
        def update(**_values: object) -> None:
            raise DatabaseError("attempt to write a readonly database")

    class Table:
        objects = ReadOnly

    monkeypatch.setattr(sessions, "Session", Table)
    now = timezone.now()
    note_use({"key"}, now, last=now - timedelta(hours=1))
    assert "attempt to write a readonly database" in caplog.text


@pytest.mark.parametrize(
    ("name", "days"), [("last_seen_at", 7), ("expire_date", 30)], ids=["idle", "total"]
)
def test_a_session_ends_by_itself(client: Client, name: str, days: int) -> None:
    moved(**{name: timedelta(days=days, minutes=-1)})
    SessionStore.clear_expired()
    moved(**{name: timedelta(minutes=1)})
    assert not lets_in(client)
    SessionStore.clear_expired()
    assert not Session.objects.exists()


def test_the_settings_say_for_how_long(client: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_SESSION_DAYS = (1, 30)
    moved(last_seen_at=timedelta(hours=25))
    assert not lets_in(client)


def test_djangos_own_clearing_deletes_the_same(client: Client) -> None:
    moved(last_seen_at=timedelta(days=8))
    SessionStore.clear_expired()
    assert not Session.objects.exists()


def test_one_user_has_a_bounded_number_of_sessions(
    vera: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_PER_USER == 100
    monkeypatch.setattr(sessions, "MOST_PER_USER", 3)
    moved(last_seen_at=timedelta(minutes=5))
    others = [Client() for _ in range(3)]
    for each in others:
        each.force_login(vera)
    assert sessions_of(vera).count() == 3
    assert not lets_in(client)
    assert all(lets_in(each) for each in others)


@pytest.mark.django_db(transaction=True)
async def test_a_store_does_the_same_without_blocking() -> None:
    store = SessionStore()
    await store.aset("word", "kept")
    await store.asave()
    key = str(store.session_key)
    assert not await store.aexists(digest_of(key))
    assert await store.aexists(key)
    assert await SessionStore(key).aget("word") == "kept"
    await store.acycle_key()
    assert not await store.aexists(key)
    assert await SessionStore(str(store.session_key)).aget("word") == "kept"
    await store.aflush()
    assert not await Session.objects.aexists()
    await SessionStore.aclear_expired()


@pytest.mark.django_db(transaction=True)
def test_keys_in_the_clear_of_an_older_version_are_deleted() -> None:
    migration = MigrationLoader(connection).get_migration("dashboard", "0014_sessions")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE django_session (session_key varchar(40))")
    for operation in migration.operations[1:]:
        with connection.schema_editor() as editor:
            operation.database_forwards("dashboard", editor, None, None)
    assert "django_session" not in connection.introspection.table_names()
