"""Teams, what they own, and notes on groups: written by few, bounded, audited.

Admins change teams and what they own. Whoever operates a group may note what people
should know of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from dashboard.models import Cluster, GroupNote, Ownership, Role, Team, User
from dashboard.models.audit import record
from dashboard.models.counting import count_alone

MAX_NAME: Final = 60
MAX_CONTACT: Final = 200
MAX_NOTE: Final = 2000
MAX_GROUPS: Final = 255
"""Characters of a pattern."""
MOST_TEAMS: Final = 500
MOST_MEMBERS: Final = 200
MOST_OWNED: Final = 1000
"""Patterns of all teams; `accounts.owners` reads them for a list of groups."""
MOST_NOTES: Final = 20_000


class TeamError(ValueError):
    """A team or a note that cannot be kept; the message names value and limit."""


class TakenError(TeamError):
    """A name, or a pattern of groups, belongs to another team."""


@dataclass(frozen=True, slots=True, order=True)
class Groups:
    """A pattern of groups on a cluster; an empty cluster stands for every one."""

    cluster: str
    groups: str


@dataclass(frozen=True, slots=True)
class TeamWish:
    """A whole team: `members` are names of users."""

    name: str
    contact: str = ""
    note: str = ""
    members: tuple[str, ...] = ()
    groups: tuple[Groups, ...] = ()


@transaction.atomic
def add_team(wish: TeamWish, *, by: User) -> Team:
    """Make a team."""
    by.must_be(Role.ADMIN)
    count_alone("teams")
    if Team.objects.count() >= MOST_TEAMS:
        raise TeamError(
            _("There are %(limit)s teams, which is the limit.") % {"limit": MOST_TEAMS}
        )
    team = Team()
    after = _write(team, wish)
    record(by, "team.add", target=team.name, details=_said(after))
    return team


@transaction.atomic
def change_team(
    team: Team, change: Callable[[TeamWish], TeamWish], *, by: User
) -> Team:
    """Make a team what `change` makes of what it is now."""
    by.must_be(Role.ADMIN)
    count_alone("teams")
    team = Team.objects.select_for_update().get(pk=team.pk)
    before = wish_of(team)
    after = _write(team, change(before))
    if before != after:
        changed = {"before": _said(before), "after": _said(after)}
        record(by, "team.change", target=before.name, details=changed)
    return team


@transaction.atomic
def delete_team(team: Team, *, by: User) -> None:
    """Delete a team; what it owned then belongs to whoever has the next pattern."""
    by.must_be(Role.ADMIN)
    details = _said(wish_of(team))
    if team.delete()[0]:
        record(by, "team.delete", target=team.name, details=details)


@transaction.atomic
def own_group(cluster: str, group: str, team: Team | None, *, by: User) -> None:
    """Give one group to a team, by its exact name; None leaves it to the patterns."""
    by.must_be(Role.ADMIN)
    count_alone("teams")
    rows = Ownership.objects.filter(cluster=cluster, groups=group)
    known = rows.select_related("team").first()
    before = known.team if known else None
    if before == team:
        return
    rows.delete()
    if team is not None:
        if "*" in group or "?" in group:
            raise TeamError(
                _("“%(group)s” would be a pattern: * and ? stand for other characters.")
                % {"group": group[:MAX_GROUPS]}
            )
        _check_room(1)
        Ownership.objects.create(team=team, cluster=cluster, groups=group)
    names = {
        "before": before.name if before else "",
        "after": team.name if team else "",
    }
    record(by, "group.own", target=group, cluster=cluster, details=names)


@transaction.atomic
def note_group(cluster: str, group: str, text: str, *, by: User) -> str:
    """Keep a note on a group, or none for an empty text; return what is kept."""
    by.at(cluster, group).must_be(Role.OPERATOR)
    text = _text(text, MAX_NOTE, _("The note"))
    count_alone("group notes")
    rows = GroupNote.objects.filter(cluster=cluster, group=group)
    known = rows.select_for_update().first()
    before = known.text if known else ""
    if text == before:
        return text
    if not text:
        rows.delete()
    elif known:
        rows.update(text=text)
    elif GroupNote.objects.count() >= MOST_NOTES:
        raise TeamError(
            _("%(limit)s groups have a note, which is the limit.")
            % {"limit": MOST_NOTES}
        )
    else:
        GroupNote.objects.create(cluster=cluster, group=group, text=text)
    details = {"before": before, "after": text}
    record(by, "group.note", target=group, cluster=cluster, details=details)
    return text


def wish_of(team: Team) -> TeamWish:
    """Return a team as it is."""
    owned = team.ownerships.values_list("cluster", "groups")
    return TeamWish(
        name=team.name,
        contact=team.contact,
        note=team.note,
        members=tuple(sorted(team.members.values_list("username", flat=True))),
        groups=tuple(sorted(Groups(cluster, groups) for cluster, groups in owned)),
    )


def _write(team: Team, wish: TeamWish) -> TeamWish:
    """Write a team; return it as it then is."""
    wish = _checked(team, wish)
    users = _users(wish.members)
    _check_free(team, wish)
    team.name, team.contact, team.note = wish.name, wish.contact, wish.note
    team.save()
    team.members.set(users)
    kept = set(wish.groups)
    for row in team.ownerships.all():
        if (place := Groups(row.cluster, row.groups)) in kept:
            kept.remove(place)
        else:
            row.delete()
    _check_room(len(kept))
    Ownership.objects.bulk_create(
        Ownership(team=team, **asdict(each)) for each in sorted(kept)
    )
    return wish_of(team)


def _checked(team: Team, wish: TeamWish) -> TeamWish:
    name = " ".join(wish.name.split())
    if not 1 <= len(name) <= MAX_NAME:
        raise TeamError(
            _("A name has 1 to %(limit)s characters, this one has %(length)s.")
            % {"limit": MAX_NAME, "length": len(name)}
        )
    had = set(wish_of(team).groups) if team.pk else set()
    stripped = (replace(each, groups=each.groups.strip()) for each in wish.groups)
    groups = tuple(dict.fromkeys(stripped))
    for each in groups:
        _check_groups(each, had)
    return TeamWish(
        name=name,
        contact=_text(wish.contact, MAX_CONTACT, _("The contact")),
        note=_text(wish.note, MAX_NOTE, _("The note")),
        members=tuple(dict.fromkeys(each.strip() for each in wish.members)),
        groups=groups,
    )


def _check_groups(wanted: Groups, had: Collection[Groups]) -> None:
    if not 1 <= len(wanted.groups) <= MAX_GROUPS:
        raise TeamError(
            _("A pattern has 1 to %(limit)s characters, this one has %(length)s.")
            % {"limit": MAX_GROUPS, "length": len(wanted.groups)}
        )
    # What was given while a cluster was configured stays when it is not.
    if not wanted.cluster or wanted in had:
        return
    if not Cluster.objects.filter(name=wanted.cluster, configured=True).exists():
        raise TeamError(
            _("No cluster “%(name)s” is configured.") % {"name": wanted.cluster[:60]}
        )


def _check_free(team: Team, wish: TeamWish) -> None:
    others = Team.objects.exclude(pk=team.pk)
    if others.filter(name=wish.name).exists():
        raise TakenError(_("There is already a team “%(name)s”.") % {"name": wish.name})
    wanted = set(wish.groups)
    rows = Ownership.objects.exclude(team_id=team.pk).select_related("team")
    for row in rows if wanted else ():
        if Groups(row.cluster, row.groups) in wanted:
            raise TakenError(
                _("“%(groups)s” belongs to the team “%(team)s”.")
                % {"groups": row.groups, "team": row.team.name}
            )


def _check_room(more: int) -> None:
    if more and Ownership.objects.count() + more > MOST_OWNED:
        raise TeamError(
            _("Teams would own more than %(limit)s patterns, which is the limit.")
            % {"limit": MOST_OWNED}
        )


def _users(names: Sequence[str]) -> list[User]:
    if len(names) > MOST_MEMBERS:
        raise TeamError(
            _("A team has at most %(limit)s members, not %(count)s.")
            % {"limit": MOST_MEMBERS, "count": len(names)}
        )
    found = {each.username: each for each in User.objects.filter(username__in=names)}
    for name in names:
        if name not in found:
            raise TeamError(_("There is no user “%(name)s”.") % {"name": name[:150]})
    return list(found.values())


def _text(text: str, limit: int, what: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if len(text) > limit:
        raise TeamError(
            _("%(what)s has %(length)s characters, at most %(limit)s are kept.")
            % {"what": what, "length": len(text), "limit": limit}
        )
    return text


def _said(wish: TeamWish) -> dict[str, object]:
    """Return what the audit trail keeps of a team."""
    groups = [f"{each.cluster or '*'}/{each.groups}" for each in wish.groups]
    return {**asdict(wish), "groups": groups, "members": list(wish.members)}
