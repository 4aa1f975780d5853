from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.models import (
    AuditEntry,
    Cluster,
    Role,
    SavedScenario,
    User,
)
from dashboard.whatif import writes as scenarios
from dashboard.whatif.writes import (
    ScenarioError,
    delete_scenario,
    save_scenario,
    share_scenario,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def east() -> Cluster:
    return Cluster.objects.create(name="east")


def user(name: str, role: Role = Role.OPERATOR) -> User:
    return User.objects.get_or_create(username=name, role=role)[0]


def save(cluster: Cluster, name: str = "sale", by: str = "olga", **more: object):  # type: ignore[no-untyped-def]
    given = {"group": "billing", "query": "v=1&s=AVG", "shared": False, **more}
    return save_scenario(user(by), cluster=cluster, name=name, **given)  # type: ignore[arg-type]


def test_a_scenario_is_kept_in_its_one_form(east: Cluster) -> None:
    saved = save(east, query="v=1&m%2Fa=b&x=1&show=BALANCED&saved=4")
    assert (saved.query, saved.show) == ("v=1&m=a%3Ab", "BALANCED")
    assert AuditEntry.objects.get().action == "scenario.save"


def test_the_same_name_replaces_ones_own_only(east: Cluster) -> None:
    save(east)
    save(east, query="v=1&s=CONSISTENT_HASH", shared=True)
    save(east, by="bob")
    assert SavedScenario.objects.count() == 2
    assert SavedScenario.objects.get(owner=user("olga")).shared


def test_shared_ones_are_seen_by_everybody(east: Cluster) -> None:
    saved = save(east)
    seen = SavedScenario.objects.seen_by
    assert list(seen(user("bob"))) == []
    share_scenario(user("olga"), saved, shared=True)
    assert list(seen(user("vera", Role.VIEWER))) == [saved]
    share_scenario(user("olga"), saved, shared=True)
    assert AuditEntry.objects.filter(action="scenario.share").count() == 1


def test_only_its_owner_and_admins_change_one(east: Cluster) -> None:
    saved = save(east, shared=True)
    for other in (user("bob"), user("vera", Role.VIEWER)):
        with pytest.raises(PermissionDenied, match="belongs to olga"):
            delete_scenario(other, saved)
    delete_scenario(user("ada", Role.ADMIN), saved)
    assert not SavedScenario.objects.exists()
    assert AuditEntry.objects.filter(action="scenario.delete").exists()


def test_viewers_save_none(east: Cluster) -> None:
    with pytest.raises(PermissionDenied):
        save_scenario(
            user("vera", Role.VIEWER),
            cluster=east,
            group="",
            name="n",
            query="",
            shared=False,
        )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"name": " "}, "1 to 120 characters, this one has 0"),
        ({"name": "x" * 121}, "this one has 121"),
        ({"query": "v=1&z=1"}, "unknown field 'z'"),
        ({"query": "v=1&a=" + "x" * 60_000}, "limit 60,000"),
    ],
)
def test_what_cannot_be_kept_is_said(
    east: Cluster, more: dict[str, str], said: str
) -> None:
    with pytest.raises(ScenarioError, match=said):
        save(east, **more)


def test_there_is_a_limit(east: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "MAX_SCENARIOS", 1)
    save(east)
    with pytest.raises(ScenarioError, match="You already keep 1 scenarios"):
        save(east, "another")
    save(east, query="v=1&n=5")
    monkeypatch.setattr(scenarios, "MAX_OF_ALL_GROUPS", 2)
    save(east, group="shipping")
    save(east, group="shipping", query="v=1&n=5")
    with pytest.raises(ScenarioError, match="You already keep 2 scenarios, which"):
        save(east, group="invented")
