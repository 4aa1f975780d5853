"""Which team owns a group: the most specific pattern, by one query for any number."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.accounts.owners import Owned, Owner, Owners, note_on, owners, teams_of
from dashboard.models import GroupNote, Ownership, Role, Team, User

HANGZHOU = "hangzhou"


def owner(name: str) -> Owner:
    return Owner(1, name, "", "")


def owned(*patterns: tuple[str, str]) -> Owners:
    """Owners named by their pattern: `CLUSTER/GROUPS`."""
    return Owners([Owned(c, g, owner(f"{c}/{g}")) for c, g in patterns])


def name_of(found: Owner | None) -> str | None:
    return found.team if found else None


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (("", "*"), ("", "pay*")),
        (("", "pay*"), ("", "pay-re*")),
        (("", "pay-re*"), (HANGZHOU, "*")),
        ((HANGZHOU, "*"), (HANGZHOU, "pay-??????")),
        ((HANGZHOU, "pay-refund?"), ("", "pay-refund")),
        (("", "pay-refund"), (HANGZHOU, "pay-refund")),
        ((HANGZHOU, "pay*nd"), (HANGZHOU, "*fund-*d")),
        ((HANGZHOU, "pay-*d"), (HANGZHOU, "*-refund")),
        ((HANGZHOU, "pay?r*"), (HANGZHOU, "pay*r*")),
    ],
)
def test_the_more_specific_pattern_wins_whatever_the_order(
    less: tuple[str, str], more: tuple[str, str]
) -> None:
    group = "pay-refund"
    expected = more if fnmatchcase(group, more[1]) else less
    for pair in ((less, more), (more, less)):
        assert name_of(owned(*pair).of(group)) == "/".join(expected)


def test_a_group_that_no_pattern_matches_has_no_owner() -> None:
    found = owned(("", "pay-*"), ("", "Orders"))
    assert found.of("orders") is None
    assert found.of("prepay-1") is None
    assert Owners([]).of("orders") is None
    assert found.of("pay-1\nx") == owner("/pay-*"), "any text, as in grants"


def test_a_bracket_is_no_special_character() -> None:
    found = owned(("", "a[b]*"))
    assert found.of("ab") is None
    assert name_of(found.of("a[b]c")) == "/a[b]*"


@given(
    st.lists(st.text("ab*?[-", min_size=1, max_size=5), unique=True, max_size=8),
    st.text("ab[-", max_size=6),
)
def test_the_owner_is_that_of_the_first_match_in_the_documented_order(
    patterns: list[str], group: str
) -> None:
    rows = [Owned("", each, owner(each)) for each in patterns]
    matching = [
        each
        for each in sorted(rows, key=lambda each: each.order)
        if fnmatchcase(group, each.groups.replace("[", "[[]"))
    ]
    expected = matching[0].owner if matching else None
    assert Owners(rows).of(group) == expected


def test_owners_are_read_by_one_query_for_any_number_of_groups(
    db: None, django_assert_num_queries: Any
) -> None:
    pay = Team.objects.create(name="Payments", contact="#pay", note="9 to 18")
    for at in range(150):
        Ownership.objects.create(team=pay, cluster=HANGZHOU, groups=f"pay-{at}-*")
    Ownership.objects.create(team=pay, groups="refunds")
    Ownership.objects.create(team=pay, cluster="shanghai", groups="*")
    with django_assert_num_queries(1):
        found = owners(HANGZHOU)
        assert found.of("pay-149-x") == Owner(pay.pk, "Payments", "#pay", "9 to 18")
        assert found.of("refunds") is not None
        assert found.of("elsewhere") is None
    assert owners(HANGZHOU) is found, "what was worked out is kept"
    Team.objects.update(contact="#refunds")
    changed = owners(HANGZHOU).of("refunds")
    assert changed is not None
    assert changed.contact == "#refunds"


def test_teams_of_a_user_and_notes_on_groups_are_read(db: None) -> None:
    user = User.objects.create_user("ming")
    assert teams_of(user) == frozenset()
    team = Team.objects.create(name="Payments")
    team.members.add(user)
    assert teams_of(user) == {team.pk}
    GroupNote.objects.create(cluster=HANGZHOU, group="billing", text="monthly")
    assert note_on(HANGZHOU, "billing") == "monthly"
    assert note_on("shanghai", "billing") == ""


def test_whoever_sees_single_clusters_sees_the_teams_of_these_and_their_own(
    db: None,
) -> None:
    limited = User.objects.create_user("ming", role="")
    limited.grants.create(role=Role.VIEWER, cluster=HANGZHOU)
    names = ["everywhere", "here", "mine", "nowhere", "there"]
    teams = {name: Team.objects.create(name=name) for name in names}
    Ownership.objects.create(team=teams["everywhere"], groups="a")
    Ownership.objects.create(team=teams["here"], cluster=HANGZHOU, groups="a")
    Ownership.objects.create(team=teams["here"], cluster=HANGZHOU, groups="b")
    Ownership.objects.create(team=teams["there"], cluster="shanghai", groups="a")
    teams["mine"].members.add(limited)
    seen = [each.name for each in Team.objects.seen_by(limited)]
    assert seen == ["everywhere", "here", "mine"]
    everybody = User.objects.create_user("jin", role=Role.VIEWER)
    assert [each.name for each in Team.objects.seen_by(everybody)] == names
