from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from dashboard.accounts.sessions import SessionStore
from dashboard.live import admission
from dashboard.live.admission import CLOSE_SIGNED_OUT, Admission, Admissions
from dashboard.models import Session, User
from tests.support.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


class Socket:
    """A socket's end of the check."""

    def __init__(self) -> None:
        self.codes: list[int] = []

    async def close(self, code: int) -> None:
        self.codes.append(code)


class Stuck(Socket):
    """One whose other side does not answer."""

    async def close(self, code: int) -> None:
        await super().close(code)
        await asyncio.Event().wait()


class Gone(Socket):
    async def close(self, code: int) -> None:
        await super().close(code)
        raise RuntimeError("the connection is closed")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "CHECK_SECONDS", 0.01)


@pytest.fixture
async def admissions() -> AsyncIterator[Admissions]:
    made = Admissions()
    yield made
    for close in [*made._open, Socket().close]:
        await made.discard(close)
    for closing in list(made._closing):
        closing.cancel()
    assert made._checking is None


@pytest.fixture
def admitted() -> Admission:
    client = Client()
    client.force_login(User.objects.create_user("vera"))
    store = SessionStore(client.cookies["rocketscope_session"].value)
    found = admission.admission_of(User.objects.get(), store, {"headers": []})
    assert found is not None
    return found


async def test_sockets_that_are_stuck_or_gone_hold_up_no_other(
    admissions: Admissions, admitted: Admission
) -> None:
    sockets = [Stuck(), Gone(), Socket()]
    for socket in sockets:
        admissions.add(socket.close, admitted)
    await Session.objects.all().adelete()
    await until(lambda: all(socket.codes for socket in sockets))
    assert [socket.codes for socket in sockets] == [[CLOSE_SIGNED_OUT]] * 3
    for socket in sockets:
        await admissions.discard(socket.close)


async def test_all_sockets_are_asked_for_at_once(
    admissions: Admissions, admitted: Admission, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = admission._standing

    def counted(wanted: set[Admission], now: object) -> set[Admission]:
        asked.append(len(wanted))
        return real(wanted, now)  # type: ignore[arg-type]

    monkeypatch.setattr(admission, "_standing", counted)
    sockets = [Socket() for _ in range(50)]
    for socket in sockets:
        admissions.add(socket.close, admitted)
    await until(lambda: len(asked) >= 2)
    assert set(asked) == {1}
    assert not any(socket.codes for socket in sockets)


async def test_a_database_that_is_away_ends_no_socket(
    admissions: Admissions, admitted: Admission, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def away(_wanted: object, _now: object) -> set[Admission]:
        tried.append(1)
        raise DatabaseError("database is locked")

    real = admission._standing
    monkeypatch.setattr(admission, "_standing", away)
    socket = Socket()
    admissions.add(socket.close, admitted)
    await until(lambda: len(tried) >= 2)
    assert socket.codes == []
    await Session.objects.all().adelete()
    monkeypatch.setattr(admission, "_standing", real)
    await until(lambda: socket.codes)


async def test_an_open_page_counts_as_use(
    admissions: Admissions, admitted: Admission
) -> None:
    long_ago = timezone.now() - timedelta(days=6)
    await Session.objects.aupdate(last_seen_at=long_ago)
    socket = Socket()
    admissions.add(socket.close, admitted)
    seen = sync_to_async(lambda: Session.objects.get().last_seen_at)
    async with asyncio.timeout(60):
        while await seen() == long_ago:
            await asyncio.sleep(0.01)
    assert socket.codes == []
