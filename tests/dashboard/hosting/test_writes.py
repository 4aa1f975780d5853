from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.gateway.settings import ClusterSettings
from dashboard.hosting.writes import (
    FleetError,
    GroupWish,
    UnknownGroupError,
    add_member,
    remove_member,
    save_group,
    wake_fleet,
)
from dashboard.models import (
    AuditEntry,
    Cluster,
    ManagedGroup,
    ManagedMember,
    Role,
    User,
)
from tests.dashboard.conftest import Write
from tests.dashboard.documents import looked_at

pytestmark = pytest.mark.django_db

WISH = GroupWish("east", "billing", [("orders", "*")])


@pytest.fixture(autouse=True)
def east(write: Write, settings: Any) -> Cluster:
    """A cluster that was just looked at, and has no group called billing."""
    write(looked_at(cluster="east"))
    cluster = ClusterSettings("east", ("h:1",), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"east": cluster}
    return Cluster.objects.create(name="east")


@pytest.fixture
def olga() -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


def wanted() -> list[int]:
    rows = ManagedMember.objects.filter(wanted=True).order_by("number")
    return list(rows.values_list("number", flat=True))


def test_a_new_group_has_its_members(olga: User) -> None:
    group = save_group(olga, WISH, members=2, reason="trial")
    assert (group.members_wanted, group.revision) == (2, 1)
    assert wanted() == [1, 2]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target, entry.reason) == (
        "group.add",
        "billing",
        "trial",
    )


def test_the_same_wish_again_changes_nothing(olga: User) -> None:
    save_group(olga, WISH, members=2)
    group = save_group(olga, WISH, members=5)
    assert (group.members_wanted, group.revision) == (2, 1)
    assert AuditEntry.objects.count() == 1


def test_another_wish_is_another_revision(olga: User) -> None:
    save_group(olga, WISH, members=1)
    group = save_group(olga, replace(WISH, strategy="AVG_BY_CIRCLE"), members=1)
    assert (group.revision, group.strategy) == (2, "AVG_BY_CIRCLE")
    entry = AuditEntry.objects.first()
    assert entry is not None
    assert (entry.action, entry.details) == ("group.change", {"changed": ["strategy"]})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cluster": "west"}, "unknown cluster 'west'"),
        ({"strategy": "FAIR"}, "unknown allocation strategy 'FAIR'"),
        ({"listener": "sing"}, "unknown listener 'sing'"),
        ({"topics": []}, "needs a topic"),
    ],
)
def test_a_wish_that_cannot_be_hosted_is_refused(
    changes: dict[str, Any], said: str, olga: User
) -> None:
    with pytest.raises(FleetError) as caught:
        save_group(olga, replace(WISH, **changes), members=1)
    assert said in str(caught.value)
    assert not ManagedGroup.objects.exists()


def test_members_join_with_the_lowest_free_number(olga: User) -> None:
    save_group(olga, WISH, members=3)
    ManagedMember.objects.filter(number=2).delete()
    ManagedGroup.objects.update(members_wanted=2)
    assert add_member(olga, "east", "billing") == 3
    assert wanted() == [1, 2, 3]


def test_the_last_added_leaves_first(olga: User) -> None:
    save_group(olga, WISH, members=1)
    add_member(olga, "east", "billing")
    add_member(olga, "east", "billing")
    assert remove_member(olga, "east", "billing", reason="night") == 2
    assert wanted() == [1, 2]
    leaving = ManagedMember.objects.get(wanted=False)
    assert leaving.number == 3


def test_a_number_still_leaving_is_not_given_again(olga: User) -> None:
    save_group(olga, WISH, members=2)
    remove_member(olga, "east", "billing")
    add_member(olga, "east", "billing")
    assert wanted() == [1, 3]


def test_a_member_can_be_named(olga: User) -> None:
    save_group(olga, WISH, members=3)
    ManagedMember.objects.filter(number=1).update(client_id="10.0.0.1@billing-1.1")
    client_id = "10.0.0.1@billing-1.1"
    assert remove_member(olga, "east", "billing", client_id=client_id) == 2
    assert wanted() == [2, 3]
    with pytest.raises(FleetError, match="is not a hosted member of 'billing'"):
        remove_member(olga, "east", "billing", client_id=client_id)
    assert wanted() == [2, 3]


def test_no_other_member_leaves_with_the_one_that_is_named(olga: User) -> None:
    """Not even where the wished number was not that of the members."""
    save_group(olga, WISH, members=3)
    ManagedMember.objects.filter(number=1).update(client_id="10.0.0.1@billing-1.1")
    ManagedGroup.objects.update(members_wanted=2)
    client_id = "10.0.0.1@billing-1.1"
    assert remove_member(olga, "east", "billing", client_id=client_id) == 2
    assert wanted() == [2, 3]
    assert ManagedGroup.objects.get().members_wanted == 2


def test_there_are_no_members_below_none(olga: User) -> None:
    save_group(olga, WISH, members=1)
    assert remove_member(olga, "east", "billing") == 0
    with pytest.raises(FleetError, match="“billing” has no hosted member that could"):
        remove_member(olga, "east", "billing")
    assert ManagedGroup.objects.get().members_wanted == 0


@pytest.mark.parametrize("change", [add_member, remove_member])
def test_viewers_change_nothing(change: Any) -> None:
    save_group(None, WISH, members=1)
    vera = User.objects.create(username="vera", role=Role.VIEWER)
    with pytest.raises(PermissionDenied, match="vera is viewer"):
        change(vera, "east", "billing")
    assert wanted() == [1]
    assert AuditEntry.objects.filter(action__startswith="member").count() == 0


def test_the_number_of_members_has_limits(olga: User) -> None:
    with pytest.raises(FleetError, match="201 members"):
        save_group(olga, replace(WISH, name="big"), members=201)


@pytest.mark.parametrize(("cluster", "group"), [("east", "x"), ("west", "billing")])
def test_unknown_groups_are_named(cluster: str, group: str, olga: User) -> None:
    save_group(olga, WISH, members=1)
    with pytest.raises(UnknownGroupError) as caught:
        add_member(olga, cluster, group)
    assert repr(group) in str(caught.value)
    assert repr(cluster) in str(caught.value)


def test_without_a_cache_the_wish_still_counts(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ROCKETSCOPE_REDIS_URL = ""
    wake_fleet()
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    wake_fleet()
    assert "the fleet was not told" in caplog.text
