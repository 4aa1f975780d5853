from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from dashboard.accounts.permissions import allows, requires
from dashboard.models import Role, User


@requires(Role.OPERATOR)
def change(request: HttpRequest) -> HttpResponse:
    return HttpResponse("changed")


def ask(user: User | AnonymousUser, **headers: str) -> HttpResponse:
    request = RequestFactory().get("/x/?y=1", headers=headers)
    request.user = user
    return change(request)


@pytest.mark.parametrize("own", Role)
@pytest.mark.parametrize("needed", Role)
def test_each_role_may_do_what_those_before_it_may(own: Role, needed: Role) -> None:
    order = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]
    assert allows(User(role=own), needed) is (order.index(own) >= order.index(needed))


def test_nobody_and_who_was_switched_off_may_nothing() -> None:
    assert not allows(AnonymousUser(), Role.VIEWER)
    assert not allows(User(role=Role.ADMIN, is_active=False), Role.VIEWER)


def test_a_stranger_is_sent_to_sign_in_and_back() -> None:
    answer = ask(AnonymousUser())
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=/x/%3Fy%3D1"


def test_a_fragment_is_only_told_that_nobody_is_signed_in() -> None:
    assert ask(AnonymousUser(), x_fragment="1").status_code == 401


def test_too_low_a_role_is_told_which_is_needed() -> None:
    with pytest.raises(PermissionDenied, match="“Operator”, you have “Viewer”"):
        ask(User(role=Role.VIEWER))


def test_a_role_that_is_high_enough_gets_through() -> None:
    assert ask(User(role=Role.ADMIN)).content == b"changed"
