"""Attaching, testing and removing clusters: who may, what is refused, what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.clusters.writes import (
    MOST_ATTACHED,
    MOST_NAME_SERVERS,
    TESTS_A_MINUTE,
    BusyTestingError,
    ClusterError,
    ClusterWish,
    UnknownClusterError,
    attach,
    remove,
    servers_in,
    start_embedded,
    try_cluster,
)
from dashboard.gateway.embedded import Standing
from dashboard.gateway.present import cluster_now
from dashboard.gateway.probing import Verdict
from dashboard.gateway.settings import ClusterSettings
from dashboard.hosting.writes import GroupWish, save_group
from dashboard.models import AuditEntry, Cluster, Role, User

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("hangzhou"),
]

WEST = ClusterWish("west", ("127.0.0.1:1",))


@pytest.fixture
def admin(db: None) -> User:
    return User.objects.create(username="ada", role=Role.ADMIN)


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


def test_an_attached_cluster_is_read_only_and_in_the_audit_trail(admin: User) -> None:
    attach(admin, WEST)
    found = cluster_now("west")
    assert found is not None
    assert found.read_only
    entry = AuditEntry.objects.get(action="cluster.attach")
    assert entry.details == {"name_servers": ["127.0.0.1:1"], "writes": False}


def test_writing_needs_a_reason(admin: User) -> None:
    with pytest.raises(ClusterError, match="A reason is needed"):
        attach(admin, ClusterWish("west", WEST.name_servers, writes=True))
    attach(admin, ClusterWish("west", WEST.name_servers, writes=True, reason="ours"))
    found = cluster_now("west")
    assert found is not None
    assert not found.read_only
    assert AuditEntry.objects.get().reason == "ours"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_nobody_but_admins_attaches_tests_or_removes(role: Role) -> None:
    user = User.objects.create(username="u", role=role)
    with pytest.raises(PermissionDenied):
        attach(user, WEST)
    with pytest.raises(PermissionDenied):
        try_cluster(user, WEST)
    with pytest.raises(PermissionDenied):
        remove(user, "hangzhou", confirm="hangzhou", reason="r")
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (ClusterWish("west", ()), "at least one name server"),
        (ClusterWish("", ("h:1",)), "is not a name of 1 to 63"),
        (ClusterWish("../etc", ("h:1",)), "is not a name of 1 to 63"),
        (ClusterWish("west", ("h",)), "is not host:port"),
        (ClusterWish("west", ("h:70000",)), "not between 1 and 65535"),
        (ClusterWish("west", ("h:1",) * (MOST_NAME_SERVERS + 1)), "at most 8"),
        (ClusterWish("embedded", ("h:1",)), "is kept for the cluster"),
        (ClusterWish("hangzhou", ("h:1",)), "is there already"),
        (ClusterWish("Hangzhou", ("127.0.0.1:1",)), "would share their settings"),
        (ClusterWish("west", ("169.254.169.254:80",)), "No name server can stand"),
        (ClusterWish("west", ("h:1",), reason="x" * 1001), "1001 characters"),
    ],
)
def test_what_cannot_be_attached_is_refused_and_leaves_nothing(
    admin: User, wish: ClusterWish, why: str
) -> None:
    with pytest.raises(ClusterError, match=why):
        attach(admin, wish)
    assert not Cluster.objects.filter(attached=True).exists()
    assert not AuditEntry.objects.exists()


def test_the_number_of_attached_clusters_has_a_limit(admin: User) -> None:
    for number in range(MOST_ATTACHED):
        Cluster.objects.create(name=f"c{number}", name_servers=["h:1"], attached=True)
    with pytest.raises(ClusterError, match="16 clusters are attached"):
        attach(admin, WEST)


def test_a_removed_cluster_keeps_its_row_and_can_be_attached_again(
    admin: User,
) -> None:
    row = attach(admin, WEST)
    with pytest.raises(ClusterError, match="Type the name “west”"):
        remove(admin, "west", confirm="wset", reason="moved")
    with pytest.raises(ClusterError, match="A reason is needed"):
        remove(admin, "west", confirm="west", reason=" ")
    remove(admin, "west", confirm="west", reason="moved")
    assert cluster_now("west") is None
    entry = AuditEntry.objects.get(action="cluster.remove")
    assert entry.details == {"name_servers": ["127.0.0.1:1"], "writes": False}
    assert attach(admin, WEST).pk == row.pk


def test_a_cluster_of_the_settings_is_removed_only_there(admin: User) -> None:
    with pytest.raises(ClusterError, match="named by the settings"):
        remove(admin, "hangzhou", confirm="hangzhou", reason="r")
    with pytest.raises(UnknownClusterError, match="“nowhere”"):
        remove(admin, "nowhere", confirm="nowhere", reason="r")


def test_a_cluster_with_hosted_groups_stays(admin: User) -> None:
    attach(admin, ClusterWish("west", WEST.name_servers, writes=True, reason="ours"))
    wish = GroupWish("west", "g", (("orders", "*"),), listener="work")
    save_group(admin, wish, members=1, reason="r", confirm="g")
    with pytest.raises(ClusterError, match="stop hosting them first"):
        remove(admin, "west", confirm="west", reason="r")


def test_each_test_is_recorded_and_their_number_is_bounded(admin: User) -> None:
    (found,) = try_cluster(admin, WEST)
    assert found.verdict is Verdict.REFUSED
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target) == ("cluster.test", "127.0.0.1:1")
    assert entry.details == {"verdicts": {"127.0.0.1:1": "refused"}}
    for _time in range(TESTS_A_MINUTE - 1):
        try_cluster(admin, WEST)
    with pytest.raises(BusyTestingError, match="10 tests in a minute"):
        try_cluster(admin, WEST)


def test_name_servers_are_read_however_they_are_separated() -> None:
    assert servers_in("a:1; b:2\r\nc:3,a:1\n") == ("a:1", "b:2", "c:3")


def test_operators_may_start_the_embedded_cluster(
    operator: User, tmp_path: Path, settings: Any
) -> None:
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = ""
    with pytest.raises(ClusterError, match="Nothing here can start"):
        start_embedded(operator)
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = str(tmp_path / "wanted")
    assert start_embedded(operator).standing is Standing.STARTING
    assert start_embedded(operator).standing is Standing.STARTING
    assert AuditEntry.objects.get().action == "cluster.start_embedded"
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = str(tmp_path / "no-folder" / "wanted")
    with pytest.raises(ClusterError, match="cannot be written"):
        start_embedded(operator)
    assert AuditEntry.objects.count() == 1
    with pytest.raises(PermissionDenied):
        start_embedded(User.objects.create(username="v", role=Role.VIEWER))


def test_the_embedded_cluster_is_not_removed(admin: User, settings: Any) -> None:
    Cluster.objects.create(
        name="embedded", name_servers=["127.0.0.1:1"], embedded=True, attached=True
    )
    assert isinstance(cluster_now("embedded"), ClusterSettings)
    with pytest.raises(ClusterError, match="ends when RocketScope is stopped"):
        remove(admin, "embedded", confirm="embedded", reason="r")
