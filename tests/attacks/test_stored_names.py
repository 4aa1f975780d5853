"""Names that a database cannot hold, chosen by a client of a cluster or a stranger."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from dashboard import models
from dashboard.collector.epochs import EpochBook, EpochMember, Membership
from dashboard.collector.handovers import Handover
from dashboard.collector.records import (
    GroupHandover,
    load_books,
    save_handovers,
    save_turns,
)
from dashboard.models import AuditEntry, Role
from dashboard.models.audit import record
from tests.dashboard.conftest import SignIn
from tests.dashboard.documents import NOW_MS

pytestmark = pytest.mark.django_db

NUL, HALF, PAIR = "a\0b", "a\ud800b", "a🚀b"
LONG = "n" * 10_000
NAMES = pytest.mark.parametrize(
    "name",
    [NUL, HALF, PAIR, LONG, "\\u0000", "中文"],
    ids=["NUL", "half", "pair", "long", "escape", "Chinese"],
)


@pytest.fixture
def east() -> models.Cluster:
    return models.Cluster.objects.create(name="east")


def turns_of(name: str) -> Any:
    member = EpochMember(name, "AVG", ((name, name),))
    turn = EpochBook().observe(Membership((member,), ((name, name, 0),)), (), NOW_MS)
    assert turn is not None
    return [(name, turn)]


@NAMES
def test_epochs_of_any_name_are_kept(east: models.Cluster, name: str) -> None:
    save_turns(east.pk, turns_of(name))
    kept = models.Epoch.objects.get(cluster=east, group=name)
    assert load_books(east.pk).keys() == {kept.group}
    assert len(kept.members[0]["client_id"]) == len(name)


def test_one_odd_name_holds_up_no_other(east: models.Cluster) -> None:
    odd = [turn for name in (NUL, HALF, LONG) for turn in turns_of(name)]
    save_turns(east.pk, [*odd, *turns_of("orders")])
    assert models.Epoch.objects.filter(group="orders").exists()


def test_what_can_be_held_is_kept_as_it_is(east: models.Cluster) -> None:
    for name in (PAIR, "\\u0000", "中文", "n" * 255):
        save_turns(east.pk, turns_of(name))
        kept = models.Epoch.objects.get(group=name)
        assert (kept.group, kept.members[0]["client_id"]) == (name, name)


def test_long_names_that_differ_at_their_end_stay_apart(east: models.Cluster) -> None:
    save_turns(east.pk, [*turns_of(LONG + "1"), *turns_of(LONG + "2")])
    assert models.Epoch.objects.values("group").distinct().count() == 2


@NAMES
def test_changes_of_hands_of_any_name_are_kept(east: models.Cluster, name: str) -> None:
    change = Handover((name, name, 0), "moved", (name,), (), None, NOW_MS)
    save_handovers(east.pk, [GroupHandover(name, 1, change)])
    assert models.OwnershipEvent.objects.filter(topic=name, broker=name).count() == 1


@NAMES
def test_an_attempt_to_sign_in_is_answered_under_any_name(name: str) -> None:
    cache.clear()
    fields = {"username": name.replace("\ud800", ""), "password": "wrong"}
    assert Client().post("/sign-in/", fields).status_code == 200
    cache.clear()


@NAMES
def test_the_audit_takes_any_name_and_reason(name: str) -> None:
    record(None, "member.add", target=name, reason=name, details={name: name})
    assert AuditEntry.objects.search(name[:200]).count() == 1


@pytest.mark.parametrize(
    "path",
    [
        "/audit/?q=%00",
        "/sign-in/%00/",
        "/sign-in/?next=%00",
        "/reports/?q=%00",
        "/reports/?cluster=%00&group=%00",
        "/api/v1/clusters/%00/overview",
        "/api/v1/clusters/hangzhou/groups/%00",
        "/api/v1/clusters/hangzhou/groups/%00/timeline",
        "/clusters/hangzhou/groups/%00/",
        "/clusters/hangzhou/groups/%00/timeline/",
        "/clusters/hangzhou/groups/%00/changes/",
    ],
)
@pytest.mark.usefixtures("hangzhou", "valkey")
def test_an_address_with_a_nul_is_answered(sign_in: SignIn, path: str) -> None:
    assert sign_in(Role.ADMIN).get(path).status_code in (200, 302, 400, 403, 404, 422)
