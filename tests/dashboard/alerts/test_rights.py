"""Who may change what about alerts, where the place is a pattern."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.alerts.rights import cluster_choices, lies_in, may, may_act, may_rule
from dashboard.models import Grant, Role, User
from dashboard.models.user import NO_ROLE
from dashboard.wording.patterns import matches

from .made import made_alert, made_rule


def person(role: str = NO_ROLE, *grants: tuple[str, Role, str]) -> User:
    user = User.objects.create(username="p", role=role)
    for groups, of, cluster in grants:
        Grant.objects.create(user=user, role=of, cluster=cluster, groups=groups)
    return User.objects.get(pk=user.pk)


@pytest.mark.parametrize(
    ("pattern", "wider", "within"),
    [
        ("pay-settle", "pay-*", True),
        ("pay-*", "pay-*", True),
        ("pay-s*", "pay-*", True),
        ("pay*", "pay-*", False),
        ("*", "pay-*", False),
        ("*", "*", True),
        ("pay-?", "pay-?", True),
        ("pay-?", "pay-*", True),
        ("pay-*", "pay-?", False),
        ("a*", "a*?", False),
        ("pay[1]", "pay[1]", True),
        ("pay1", "pay[1]", False),
    ],
)
def test_one_pattern_lies_in_another(pattern: str, wider: str, within: bool) -> None:
    assert lies_in(pattern, wider) is within


LETTERS = st.text("ab*?", max_size=6)


@given(LETTERS, LETTERS, st.text("ab", max_size=8))
def test_what_lies_in_a_pattern_matches_nothing_else(
    pattern: str, wider: str, name: str
) -> None:
    if pattern and wider and lies_in(pattern, wider) and matches(pattern, name):
        assert matches(wider, name)


@pytest.mark.django_db
def test_an_operator_of_some_groups_acts_for_these_alone() -> None:
    user = person(NO_ROLE, ("pay-*", Role.OPERATOR, "hangzhou"))
    assert may(user, Role.OPERATOR, "hangzhou", "pay-s*")
    assert not may(user, Role.OPERATOR, "hangzhou", "")
    assert not may(user, Role.OPERATOR, "hangzhou", "order-*")
    assert not may(user, Role.OPERATOR, "shanghai", "pay-s*")
    assert not may(user, Role.OPERATOR, "", "pay-s*")
    assert not may(user, Role.ADMIN, "hangzhou", "pay-s*")


@pytest.mark.django_db
def test_rules_of_all_groups_and_of_brokers_need_an_admin() -> None:
    operator = person(Role.OPERATOR)
    assert may_rule(operator, "hangzhou", "lag", "pay-*")
    assert not may_rule(operator, "hangzhou", "lag", "")
    assert not may_rule(operator, "hangzhou", "broker", "pay-*")
    assert not may_rule(operator, "", "lag", "pay-*")
    Grant.objects.create(user=operator, role=Role.ADMIN, cluster="hangzhou")
    admin = User.objects.get(pk=operator.pk)
    assert may_rule(admin, "hangzhou", "broker", "")
    assert not may_rule(admin, "", "lag", "")
    assert not may_rule(admin, "shanghai", "lag", "")
    assert len(cluster_choices(admin, "hangzhou")) == 1
    assert len(cluster_choices(User(role=Role.ADMIN), "hangzhou")) == 2


@pytest.mark.django_db
def test_an_alert_is_acknowledged_by_who_operates_all_of_its_groups() -> None:
    user = person(NO_ROLE, ("pay-*", Role.OPERATOR, "hangzhou"))
    alert = made_alert(made_rule(), "pay-a")
    assert may_act(user, alert, ["pay-a", "pay-b"])
    assert not may_act(user, alert, ["pay-a", "order"])
    alert.kind = "broker"
    assert not may_act(user, alert, ["pay-a"])
