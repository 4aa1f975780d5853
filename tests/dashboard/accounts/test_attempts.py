from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from dashboard.accounts.attempts import MOST_ENTRIES, PAUSE, record_refusal
from dashboard.accounts.links import make_sign_in_token
from dashboard.models import AuditEntry, Role, User
from dashboard.models.audit import SIGN_IN, SIGN_OUT, USE_LINK

GOOD = {"username": "vera", "password": "correct horse battery"}
Entry = tuple[str, str, str, str, str, int]


@pytest.fixture(autouse=True)
def vera(db: None) -> Iterator[User]:
    cache.clear()
    yield User.objects.create_user(**GOOD, role=Role.VIEWER)
    cache.clear()


def entries() -> list[Entry]:
    return list(
        AuditEntry.objects.order_by("pk").values_list(
            "actor_name", "action", "target", "outcome", "address", "times"
        )
    )


def test_signing_in_and_out_is_recorded() -> None:
    client = Client(REMOTE_ADDR="10.0.0.7")
    client.post("/sign-in/", GOOD)
    client.post("/sign-out/")
    client.post("/sign-out/")
    assert entries() == [
        ("vera", SIGN_IN, "vera", "done", "10.0.0.7", 1),
        ("vera", SIGN_OUT, "vera", "done", "10.0.0.7", 1),
    ]


def test_wrong_passwords_are_counted_and_never_kept() -> None:
    for _ in range(3):
        Client().post("/sign-in/", {**GOOD, "password": "hush-hush"})
    assert entries() == [("", SIGN_IN, "vera", "refused", "127.0.0.1", 3)]
    assert "hush-hush" not in str(list(AuditEntry.objects.values()))


def test_a_spent_and_a_refused_link_are_recorded(vera: User) -> None:
    address = f"/sign-in/{make_sign_in_token(vera, timezone.now())}/"
    Client(REMOTE_ADDR="10.0.0.7").post(address)
    Client(REMOTE_ADDR="10.0.0.8").post(address)
    Client(REMOTE_ADDR="10.0.0.9").get("/sign-in/made-up/")
    assert entries()[1:] == [
        ("vera", USE_LINK, "vera", "done", "10.0.0.7", 1),
        ("", USE_LINK, "vera", "refused", "10.0.0.8", 1),
        ("", USE_LINK, "", "refused", "10.0.0.9", 1),
    ]


def test_invented_names_are_counted_together_beyond_the_bound() -> None:
    for number in range(MOST_ENTRIES + 30):
        record_refusal(SIGN_IN, f"name-{number}", "10.0.0.7")
    assert AuditEntry.objects.count() == MOST_ENTRIES + 1
    others = AuditEntry.objects.get(target="")
    assert (others.address, others.times) == ("", 30)
    assert AuditEntry.objects.aggregate(Sum("times"))["times__sum"] == MOST_ENTRIES + 30


def test_a_later_attempt_is_an_entry_of_its_own() -> None:
    record_refusal(SIGN_IN, "vera", "10.0.0.7")
    AuditEntry.objects.update(at=timezone.now() - PAUSE - timedelta(seconds=1))
    record_refusal(SIGN_IN, "vera", "10.0.0.7")
    assert [times for *_rest, times in entries()] == [1, 1]


def test_a_name_is_cut() -> None:
    record_refusal(SIGN_IN, "x" * 10_000, "y" * 10_000)
    (entry,) = AuditEntry.objects.all()
    assert (len(entry.target), len(entry.address)) == (150, 64)
