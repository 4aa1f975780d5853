from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, connections
from django.db.models import QuerySet
from django.test import Client

from dashboard.accounts.users import LastAdminError, add_user, change_user
from dashboard.models import AuditEntry, Role, User
from tests.dashboard.conftest import SignIn
from tests.support.waiting import PATIENCE_SECONDS

NEW = "a long and unlikely one"


def test_an_added_user_has_no_password_and_is_audited(db: None) -> None:
    user = add_user("vera", Role.OPERATOR, by=None)
    assert not user.has_usable_password()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target) == ("user.add", "vera")
    assert entry.details == {"role": "operator"}


@pytest.mark.parametrize("name", ["", "has space", "vera"])
def test_a_name_that_cannot_be_used_is_refused(db: None, name: str) -> None:
    add_user("vera", Role.VIEWER, by=None)
    with pytest.raises(ValidationError):
        add_user(name, Role.VIEWER, by=None)
    assert AuditEntry.objects.count() == 1


def test_the_last_admin_stays_one(db: None) -> None:
    admin = add_user("root", Role.ADMIN, by=None)
    with pytest.raises(LastAdminError):
        change_user(admin, role=Role.VIEWER, is_active=True, by=admin)
    with pytest.raises(LastAdminError):
        change_user(admin, role=Role.ADMIN, is_active=False, by=admin)
    admin.refresh_from_db()
    assert (admin.role, admin.is_active) == (Role.ADMIN, True)


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_leave_one() -> None:
    admins = [add_user(name, Role.ADMIN, by=None) for name in ("anna", "otto")]
    together = threading.Barrier(2)

    def demote(user: User) -> bool:
        together.wait(PATIENCE_SECONDS)
        try:
            change_user(user, role=Role.VIEWER, is_active=True, by=None)
        except LastAdminError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(demote, admins)) == [False, True]
    assert User.objects.filter(role=Role.ADMIN, is_active=True).count() == 1


def test_the_admins_are_locked_in_the_transaction_before_any_change(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = add_user("anna", Role.ADMIN, by=None)
    add_user("otto", Role.ADMIN, by=None)
    done: list[tuple[str, bool]] = []
    lock, save = QuerySet.select_for_update, User.save

    def spy(query: QuerySet[User]) -> QuerySet[User]:
        done.append(("lock", connection.in_atomic_block))
        return lock(query)

    def saved(self: User, **given: Any) -> None:
        done.append(("save", connection.in_atomic_block))
        save(self, **given)

    monkeypatch.setattr(QuerySet, "select_for_update", spy)
    monkeypatch.setattr(User, "save", saved)
    change_user(user, role=Role.VIEWER, is_active=True, by=None)
    assert done == [("lock", True), ("save", True)]


def test_a_change_is_judged_by_what_is_stored(db: None) -> None:
    user = add_user("anna", Role.ADMIN, by=None)
    add_user("otto", Role.ADMIN, by=None)
    User.objects.filter(pk=user.pk).update(role=Role.VIEWER)
    change_user(user, role=Role.OPERATOR, is_active=True, by=None)
    entry = AuditEntry.objects.get(action="user.change")
    assert entry.details["before"]["role"] == "viewer"


def test_a_change_that_changes_nothing_is_not_audited(db: None) -> None:
    admin = add_user("root", Role.ADMIN, by=None)
    change_user(admin, role=Role.ADMIN, is_active=True, by=admin)
    assert not AuditEntry.objects.filter(action="user.change").exists()


def test_an_admin_adds_a_user_and_gets_a_link_that_works(sign_in: SignIn) -> None:
    answer = sign_in(Role.ADMIN).post(
        "/account/users/", {"username": "vera", "role": "operator"}
    )
    link = answer.context["link"]
    assert link in answer.content.decode()
    assert Client().post(link.removeprefix("http://testserver")).status_code == 302
    assert User.objects.get(username="vera").role == Role.OPERATOR


def test_a_user_who_has_never_signed_in_is_said_so(sign_in: SignIn) -> None:
    client = sign_in(Role.ADMIN)
    User.objects.create_user("vera", role=Role.VIEWER)
    assert b"not yet" in client.get("/account/users/").content


def test_a_name_in_use_is_told_at_the_field(sign_in: SignIn) -> None:
    answer = sign_in(Role.ADMIN).post(
        "/account/users/", {"username": "admin", "role": "viewer"}
    )
    assert b"already exists" in answer.content


def test_an_admin_changes_role_and_state(sign_in: SignIn) -> None:
    vera = User.objects.create_user("vera", role=Role.VIEWER)
    client = sign_in(Role.ADMIN)
    client.post(f"/account/users/{vera.pk}/", {"role": "operator"})
    vera.refresh_from_db()
    assert (vera.role, vera.is_active) == (Role.OPERATOR, False)
    entry = AuditEntry.objects.get(action="user.change")
    assert entry.actor_name == "admin"
    assert entry.details["before"] == {
        "role": "viewer",
        "active": True,
        "bodies": None,
    }


def test_the_last_admin_is_told_why_not(sign_in: SignIn) -> None:
    client = sign_in(Role.ADMIN)
    admin = User.objects.get()
    answer = client.post(f"/account/users/{admin.pk}/", {"role": "viewer"}, follow=True)
    assert b"at least one active admin" in answer.content


def test_a_role_that_does_not_exist_is_refused(sign_in: SignIn) -> None:
    client = sign_in(Role.ADMIN)
    address = f"/account/users/{User.objects.get().pk}/"
    assert (
        b"does not exist" in client.post(address, {"role": "king"}, follow=True).content
    )


def test_an_admin_makes_a_link_for_somebody(sign_in: SignIn) -> None:
    vera = User.objects.create_user("vera")
    answer = sign_in(Role.ADMIN).post(f"/account/users/{vera.pk}/link/")
    link = answer.context["link"].removeprefix("http://testserver")
    client = Client()
    client.post(link)
    assert b"vera" in client.get("/account/").content


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_nobody_else_sees_or_changes_users(sign_in: SignIn, role: Role) -> None:
    client = sign_in(role)
    own = f"/account/users/{User.objects.get().pk}/"
    assert client.get("/account/users/").status_code == 403
    assert client.post("/account/users/", {"username": "x"}).status_code == 403
    assert client.post(own, {"role": "admin"}).status_code == 403
    assert client.post(f"{own}link/").status_code == 403
    assert User.objects.get().role == role


class TestOwnAccount:
    def test_a_user_without_a_password_sets_one(self, sign_in: SignIn) -> None:
        client = sign_in(Role.VIEWER)
        User.objects.get().set_unusable_password()
        user = User.objects.get()
        user.set_unusable_password()
        user.save()
        client.force_login(user)
        both = {"new_password1": NEW, "new_password2": NEW}
        assert client.post("/account/", both).status_code == 302
        assert client.get("/account/").status_code == 200
        assert User.objects.get().check_password(NEW)
        assert AuditEntry.objects.get().action == "user.password"

    def test_a_user_with_one_gives_the_old_first(self, sign_in: SignIn) -> None:
        User.objects.create_user("vera", password="the one before this")
        client = Client()
        client.login(username="vera", password="the one before this")
        both = {"new_password1": NEW, "new_password2": NEW}
        assert client.post("/account/", both).status_code == 200
        both["old_password"] = "the one before this"
        assert client.post("/account/", both).status_code == 302

    def test_a_weak_one_is_refused(self, sign_in: SignIn) -> None:
        user = User.objects.create_user("vera")
        user.set_unusable_password()
        user.save()
        client = Client()
        client.force_login(user)
        answer = client.post(
            "/account/", {"new_password1": "password", "new_password2": "password"}
        )
        assert b"too short" in answer.content
