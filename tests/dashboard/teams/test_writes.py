"""Teams, what they own and notes on groups: who may write, bounds, and the audit."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.core.exceptions import PermissionDenied

from dashboard.accounts.owners import owners
from dashboard.models import AuditEntry, GroupNote, Ownership, Role, Team, User
from dashboard.teams import writes
from dashboard.teams.writes import (
    Groups,
    TakenError,
    TeamError,
    TeamWish,
    add_team,
    change_team,
    delete_team,
    note_group,
    own_group,
    wish_of,
)

pytestmark = pytest.mark.usefixtures("hangzhou")

PAY = Groups("hangzhou", "pay-*")
WISH = TeamWish("Payments", "#pay", "9 to 18", ("ming",), (PAY, Groups("", "refunds")))


@pytest.fixture
def admin(db: None) -> User:
    User.objects.create_user("ming", role=Role.VIEWER)
    return User.objects.create_user("ada", role=Role.ADMIN)


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def owner_of(group: str) -> str | None:
    found = owners("hangzhou").of(group)
    return found.team if found else None


def test_a_team_is_made_changed_and_deleted_and_each_is_audited(admin: User) -> None:
    team = add_team(WISH, by=admin)
    assert wish_of(team) == replace(WISH, groups=(Groups("", "refunds"), PAY))
    assert owner_of("pay-1") == "Payments"
    change_team(team, lambda wish: replace(wish, members=(), groups=(PAY,)), by=admin)
    change_team(team, lambda wish: wish, by=admin)
    delete_team(team, by=admin)
    assert owner_of("pay-1") is None
    assert actions() == ["team.add", "team.change", "team.delete"], (
        "no change, no entry"
    )
    changed = AuditEntry.objects.get(action="team.change")
    assert changed.target == "Payments"
    assert changed.details["before"]["members"] == ["ming"]
    assert changed.details["after"]["groups"] == ["hangzhou/pay-*"]
    assert not Ownership.objects.exists()


def test_a_pattern_that_stays_keeps_its_row(admin: User) -> None:
    team = add_team(WISH, by=admin)
    row = Ownership.objects.get(groups="pay-*")
    change_team(team, lambda wish: replace(wish, groups=(PAY,)), by=admin)
    assert [each.pk for each in Ownership.objects.all()] == [row.pk]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (TeamWish("  "), "A name has 1 to 60 characters, this one has 0."),
        (TeamWish("x" * 61), "A name has 1 to 60 characters, this one has 61."),
        (
            TeamWish("a", contact="x" * 201),
            "The contact has 201 characters, at most 200 are kept.",
        ),
        (
            TeamWish("a", note="x" * 2001),
            "The note has 2001 characters, at most 2000 are kept.",
        ),
        (TeamWish("a", members=("nobody",)), "There is no user “nobody”."),
        (
            TeamWish("a", groups=(Groups("nowhere", "x"),)),
            "No cluster “nowhere” is configured.",
        ),
        (
            TeamWish("a", groups=(Groups("", " "),)),
            "A pattern has 1 to 255 characters, this one has 0.",
        ),
        (
            TeamWish("a", members=tuple(map(str, range(201)))),
            "A team has at most 200 members, not 201.",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_with_its_limit(
    wish: TeamWish, said: str, admin: User
) -> None:
    with pytest.raises(TeamError) as refusal:
        add_team(wish, by=admin)
    assert str(refusal.value) == said
    assert not Team.objects.exists()
    assert not AuditEntry.objects.exists()


def test_a_name_and_a_pattern_belong_to_one_team(admin: User) -> None:
    add_team(WISH, by=admin)
    with pytest.raises(TakenError, match="already a team “Payments”"):
        add_team(TeamWish("Payments"), by=admin)
    with pytest.raises(TakenError, match="“pay-\\*” belongs to the team “Payments”"):
        add_team(TeamWish("Orders", groups=(PAY,)), by=admin)
    other = add_team(TeamWish("Orders", groups=(Groups("", "pay-*"),)), by=admin)
    assert owner_of("pay-1") == "Payments", "the cluster's own pattern counts first"
    assert wish_of(other).groups == (Groups("", "pay-*"),)


def test_there_are_bounds(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    team = add_team(WISH, by=admin)
    monkeypatch.setattr(writes, "MOST_TEAMS", 1)
    monkeypatch.setattr(writes, "MOST_OWNED", 2)
    monkeypatch.setattr(writes, "MOST_NOTES", 1)
    with pytest.raises(TeamError, match="There are 1 teams"):
        add_team(TeamWish("Orders"), by=admin)
    more = (*WISH.groups, Groups("", "x"))
    with pytest.raises(TeamError, match="more than 2 patterns"):
        change_team(team, lambda wish: replace(wish, groups=more), by=admin)
    with pytest.raises(TeamError, match="more than 2 patterns"):
        own_group("hangzhou", "billing", team, by=admin)
    note_group("hangzhou", "billing", "monthly", by=admin)
    with pytest.raises(TeamError, match="1 groups have a note"):
        note_group("hangzhou", "other", "monthly", by=admin)


def test_a_group_is_given_to_a_team_by_its_exact_name(admin: User) -> None:
    payments = add_team(WISH, by=admin)
    orders = add_team(TeamWish("Orders"), by=admin)
    own_group("hangzhou", "pay-9", orders, by=admin)
    assert (owner_of("pay-9"), owner_of("pay-8")) == ("Orders", "Payments")
    own_group("hangzhou", "pay-9", payments, by=admin)
    own_group("hangzhou", "pay-9", payments, by=admin)
    own_group("hangzhou", "pay-9", None, by=admin)
    assert owner_of("pay-9") == "Payments", "by its pattern"
    changes = AuditEntry.objects.filter(action="group.own").order_by("pk")
    assert [each.details for each in changes] == [
        {"before": "", "after": "Orders"},
        {"before": "Orders", "after": "Payments"},
        {"before": "Payments", "after": ""},
    ]
    with pytest.raises(TeamError, match="would be a pattern"):
        own_group("hangzhou", "pay-*9", orders, by=admin)


def test_a_note_is_kept_changed_and_taken_away(admin: User) -> None:
    assert note_group("hangzhou", "billing", " monthly\r\nrun ", by=admin) == (
        "monthly\nrun"
    )
    note_group("hangzhou", "billing", "monthly\nrun", by=admin)
    note_group("hangzhou", "billing", "daily", by=admin)
    assert GroupNote.objects.get().text == "daily"
    note_group("hangzhou", "billing", "", by=admin)
    assert not GroupNote.objects.exists()
    assert actions() == ["group.note"] * 3
    with pytest.raises(TeamError, match="2001 characters"):
        note_group("hangzhou", "billing", "x" * 2001, by=admin)


def test_who_operates_a_group_notes_and_only_admins_change_teams(admin: User) -> None:
    team = add_team(TeamWish("Payments"), by=admin)
    operator = User.objects.create_user("olga", role="")
    operator.grants.create(role=Role.OPERATOR, cluster="hangzhou", groups="pay-*")
    note_group("hangzhou", "pay-1", "x", by=operator)
    with pytest.raises(PermissionDenied):
        note_group("hangzhou", "orders", "x", by=operator)
    for write in (
        lambda: add_team(TeamWish("x"), by=operator),
        lambda: change_team(team, lambda wish: wish, by=operator),
        lambda: delete_team(team, by=operator),
        lambda: own_group("hangzhou", "pay-1", team, by=operator.at("hangzhou")),
    ):
        with pytest.raises(PermissionDenied):
            write()
