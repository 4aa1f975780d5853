"""Roles on single clusters and groups: which one counts where, giving and taking."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.accounts.grants import GrantRefusedError, give, take
from dashboard.models import NO_ROLE, AuditEntry, Cluster, Grant, Place, Role, User
from tests.dashboard.conftest import SignIn

pytestmark = pytest.mark.django_db

EAST, WEST = "east", "west"


@pytest.fixture(autouse=True)
def clusters() -> None:
    for name in (EAST, WEST):
        Cluster.objects.create(name=name)


@pytest.fixture
def admin() -> User:
    return User.objects.create_user("anna", role=Role.ADMIN)


def user(role: str = NO_ROLE, *grants: tuple[Role, str, str]) -> User:
    made = User.objects.create_user("pete", role=role)
    for granted, cluster, groups in grants:
        made.grants.create(role=granted, cluster=cluster, groups=groups)
    return made


@pytest.mark.parametrize("role", Role)
def test_a_role_counts_everywhere(role: Role) -> None:
    made = user(role)
    for place in ((None, None), (EAST, None), (WEST, "orders")):
        assert made.at(*place).role_here is role


def test_a_grant_counts_on_its_cluster_alone() -> None:
    made = user(NO_ROLE, (Role.OPERATOR, EAST, ""))
    assert made.at(EAST).role_here is Role.OPERATOR
    assert made.at(EAST, "orders").role_here is Role.OPERATOR
    assert made.at(WEST).role_here is None
    assert made.at(None).role_here is Role.VIEWER


def test_a_grant_on_groups_lets_one_look_at_the_rest_of_the_cluster() -> None:
    made = user(NO_ROLE, (Role.OPERATOR, EAST, "pay-*"))
    assert made.at(EAST, "pay-eu").role_here is Role.OPERATOR
    assert made.at(EAST, "Pay-eu").role_here is Role.VIEWER
    assert made.at(EAST, "orders").role_here is Role.VIEWER
    assert made.at(EAST).role_here is Role.VIEWER
    assert made.at(WEST, "pay-eu").role_here is None


def test_only_stars_and_question_marks_are_special_in_a_pattern() -> None:
    made = user(NO_ROLE, (Role.OPERATOR, EAST, "[pq]ay-?"))
    assert made.at(EAST, "[pq]ay-1").role_here is Role.OPERATOR
    assert made.at(EAST, "pay-1").role_here is Role.VIEWER
    assert made.at(EAST, "[pq]ay-12").role_here is Role.VIEWER
    assert made.allows_somewhere(Role.OPERATOR)


def test_the_highest_role_counts() -> None:
    made = user(Role.VIEWER, (Role.OPERATOR, EAST, "pay-*"), (Role.ADMIN, WEST, ""))
    assert made.at(EAST, "pay-eu").role_here is Role.OPERATOR
    assert made.at(WEST).role_here is Role.ADMIN
    assert made.at(None).role_here is Role.VIEWER
    assert made.allows_somewhere(Role.ADMIN)
    assert not made.at(EAST).allows(Role.OPERATOR)


def test_who_is_disabled_may_nothing() -> None:
    made = user(Role.VIEWER, (Role.ADMIN, EAST, ""))
    made.is_active = False
    assert not made.at(EAST).allows(Role.VIEWER)
    assert not made.allows_somewhere(Role.VIEWER)


def test_bodies_of_messages_follow_the_place() -> None:
    made = user(NO_ROLE, (Role.OPERATOR, EAST, ""), (Role.VIEWER, WEST, ""))
    assert made.at(EAST).may_see_bodies
    assert not made.at(WEST).may_see_bodies
    made.sees_bodies = True
    assert made.at(WEST).may_see_bodies
    assert not made.at("north").may_see_bodies
    made.sees_bodies = False
    assert not made.at(EAST).may_see_bodies


def test_what_is_missing_is_named_with_its_place() -> None:
    made = user(NO_ROLE, (Role.OPERATOR, EAST, "pay-*"))
    told = r"pete is viewer; this needs operator \(group 'orders' on cluster 'east'\)"
    with pytest.raises(PermissionDenied, match=told):
        made.at(EAST, "orders").must_be(Role.OPERATOR)
    told = r"pete is without a role; this needs viewer \(cluster 'west'\)"
    with pytest.raises(PermissionDenied, match=told):
        made.at(WEST).must_be(Role.VIEWER)


@pytest.mark.parametrize(
    ("role", "seen"), [(Role.VIEWER, {EAST, WEST}), (NO_ROLE, {EAST})]
)
def test_clusters_are_listed_for_those_who_see_them(role: str, seen: set[str]) -> None:
    made = user(role, (Role.VIEWER, EAST, "pay-*"), (Role.VIEWER, "gone", ""))
    assert {each.name for each in Cluster.objects.all().seen_by(made)} == seen


def test_giving_replaces_and_is_in_the_audit(admin: User) -> None:
    made = user()
    give(made, role=Role.VIEWER, cluster=EAST, groups=" pay-* ", by=admin)
    grant = give(made, role=Role.OPERATOR, cluster=EAST, groups="pay-*", by=admin)
    give(made, role=Role.OPERATOR, cluster=EAST, groups="pay-*", by=admin)
    assert [str(each) for each in made.grants.all()] == [
        "operator on east, groups pay-*"
    ]
    take(grant, by=admin)
    take(grant, by=admin)
    entries = AuditEntry.objects.order_by("pk").values_list(
        "action", "target", "cluster", "details"
    )
    assert list(entries) == [
        ("grant.give", "pete", EAST, {"role": "viewer", "groups": "pay-*"}),
        ("grant.give", "pete", EAST, {"role": "operator", "groups": "pay-*"}),
        ("grant.take", "pete", EAST, {"role": "operator", "groups": "pay-*"}),
    ]


def test_what_makes_no_sense_is_refused(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = user()
    with pytest.raises(GrantRefusedError, match="No cluster “north”"):
        give(made, role=Role.VIEWER, cluster="north", by=admin)
    with pytest.raises(GrantRefusedError, match="leave the groups empty"):
        give(made, role=Role.ADMIN, cluster=EAST, groups="pay-*", by=admin)
    monkeypatch.setattr("dashboard.accounts.grants.MOST_GRANTS", 1)
    give(made, role=Role.VIEWER, cluster=EAST, by=admin)
    with pytest.raises(GrantRefusedError, match="1 roles on clusters"):
        give(made, role=Role.VIEWER, cluster=WEST, by=admin)
    give(made, role=Role.OPERATOR, cluster=EAST, by=admin)


def test_a_place_names_itself() -> None:
    assert str(Place()) == ""
    assert str(Place(EAST)) == "cluster 'east'"


def test_the_page_gives_and_takes(sign_in: SignIn) -> None:
    made = user()
    client = sign_in(Role.ADMIN)
    page = f"/account/users/{made.pk}/rights/"
    assert "sees nothing" in client.get(page).content.decode()
    wish = {"cluster": EAST, "groups": "pay-*", "role": "operator"}
    assert client.post(page, wish).status_code == 302
    grant = Grant.objects.get()
    assert "pay-*" in client.get(page).content.decode()
    wrong = client.post(page, {"cluster": EAST, "groups": "x", "role": "admin"})
    assert wrong.status_code == 422
    assert "leave the groups empty" in wrong.content.decode()
    for key in ("x", "9" * 30, str(grant.pk + 1)):
        assert client.post(page, {"take": key}).status_code == 404
    assert client.post(page, {"take": grant.pk}).status_code == 302
    assert not Grant.objects.exists()


def test_a_user_can_be_left_to_grants_alone(sign_in: SignIn) -> None:
    made = user(Role.VIEWER)
    client = sign_in(Role.ADMIN)
    page = f"/account/users/{made.pk}/"
    client.post(page, {})
    made.refresh_from_db()
    assert (made.role, made.is_active) == (Role.VIEWER, True)
    client.post(page, {"role": "none", "is_active": "on"})
    made.refresh_from_db()
    assert made.role == NO_ROLE
    assert made.is_active
