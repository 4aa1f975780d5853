from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from dashboard.models import AuditEntry, Role, User
from dashboard.models.audit import SYSTEM, record

pytestmark = pytest.mark.django_db


def test_an_entry_outlives_its_user() -> None:
    user = User.objects.create_user("vera", role=Role.OPERATOR)
    record(
        user,
        "member.add",
        cluster="hangzhou",
        target="demo",
        reason="two more for the sale",
        details={"count": 2},
    )
    user.delete()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.actor_name) == (None, "vera")
    assert entry.details == {"count": 2}
    assert str(entry) == "vera member.add demo"


@pytest.mark.parametrize("actor", [None, AnonymousUser()])
def test_without_a_user_the_program_itself_acts(actor: AnonymousUser | None) -> None:
    assert record(actor, "x").actor_name == SYSTEM


def test_a_write_that_is_rolled_back_leaves_no_entry() -> None:
    with transaction.atomic():
        record(None, "x")
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()


def test_entries_are_found_by_who_what_where_and_why() -> None:
    record(None, "member.add", cluster="east", target="demo", reason="CHG-2291")
    record(None, "user.add")
    for text in ("rocketscope", "member", "EAST", "demo", "2291"):
        assert AuditEntry.objects.search(text).filter(action="member.add").count() == 1
    assert AuditEntry.objects.search("").count() == 2
    assert AuditEntry.objects.search("nothing").count() == 0


def test_details_are_one_line_and_keep_chinese() -> None:
    assert (
        record(None, "x", details={"name": "订单"}).details_text == '{"name": "订单"}'
    )
    assert record(None, "x").details_text == ""
