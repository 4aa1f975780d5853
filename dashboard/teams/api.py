"""Teams and notes on groups over REST."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from dashboard.accounts.permissions import user_of
from dashboard.models import Role, Team
from dashboard.rest.asking import cluster_named, refuse, the_first
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .reads import ShownTeam, teams_seen
from .writes import (
    MAX_CONTACT,
    MAX_GROUPS,
    MAX_NAME,
    MAX_NOTE,
    MOST_MEMBERS,
    MOST_OWNED,
    Groups,
    TeamWish,
    add_team,
    change_team,
    delete_team,
    note_group,
)

REFUSED: Any = {409: Problem}

router = Router()


class OwnedGroups(Schema):
    """Groups that a team owns."""

    cluster: str = Field("", max_length=63, description="empty for every cluster")
    groups: str = Field(
        min_length=1,
        max_length=MAX_GROUPS,
        description="a name, or a pattern with `*` and `?`",
        examples=["payments-*"],
    )


class TeamIn(Schema):
    """A whole team; what is left out is empty."""

    name: str = Field(min_length=1, max_length=MAX_NAME, examples=["Payments"])
    contact: str = Field("", max_length=MAX_CONTACT)
    note: str = Field("", max_length=MAX_NOTE)
    members: list[str] = Field([], max_length=MOST_MEMBERS, description="user names")
    groups: list[OwnedGroups] = Field([], max_length=MOST_OWNED)

    def wish(self) -> TeamWish:
        return TeamWish(
            name=self.name,
            contact=self.contact,
            note=self.note,
            members=tuple(self.members),
            groups=tuple(Groups(each.cluster, each.groups) for each in self.groups),
        )


class TeamOut(Schema):
    """A team; of its groups, those on clusters that the caller may see."""

    pk: int
    name: str
    contact: str
    note: str
    members: list[str]
    groups: list[OwnedGroups]
    mine: bool = Field(description="whether the caller is in it")


class NoteIn(Schema):
    note: str = Field(max_length=MAX_NOTE, description="empty for none")


class NoteOut(Schema):
    note: str


@router.get("/teams", response={200: list[TeamOut]})
@paged
def teams(request: HttpRequest) -> list[dict[str, Any]]:
    """List the teams by name."""
    return [_out(each) for each in teams_seen(user_of(request))]


@router.post("/teams", response={201: TeamOut, **REFUSED})
def add(request: HttpRequest, body: TeamIn) -> Any:
    """Make a team."""
    team = add_team(body.wish(), by=user_of(request))
    return Status(201, _shown(request, team.pk))


@router.get("/teams/{pk}", response={200: TeamOut})
def team(request: HttpRequest, pk: int) -> Any:
    """Return one team."""
    return _shown(request, pk)


@router.put("/teams/{pk}", response={200: TeamOut, **REFUSED})
def change(request: HttpRequest, pk: int, body: TeamIn) -> Any:
    """Change a team as a whole."""
    change_team(_team(request, pk), lambda _before: body.wish(), by=user_of(request))
    return _shown(request, pk)


@router.delete("/teams/{pk}", response={204: None})
def delete(request: HttpRequest, pk: int) -> Any:
    """Delete a team; the groups that it owned are as if it had not been."""
    delete_team(_team(request, pk), by=user_of(request))
    return Status(204, None)


@router.put("/clusters/{cluster}/groups/{group:group}/note", response={200: NoteOut})
def note(request: HttpRequest, cluster: str, group: str, body: NoteIn) -> Any:
    """Keep a note on a group, which its page and its document show."""
    name = cluster_named(cluster).name
    return {"note": note_group(name, group, body.note, by=user_of(request))}


def _team(request: HttpRequest, pk: int) -> Team:
    user_of(request).must_be(Role.ADMIN)
    return the_first(Team.objects.filter(pk=pk), f"no team {pk}")


def _shown(request: HttpRequest, pk: int) -> dict[str, Any]:
    found = teams_seen(user_of(request), pk)
    if not found:
        refuse(404, f"no team {pk}")
    return _out(found[0])


def _out(shown: ShownTeam) -> dict[str, Any]:
    team = shown.team
    return {
        "pk": team.pk,
        "name": team.name,
        "contact": team.contact,
        "note": team.note,
        "members": list(shown.members),
        "groups": [
            {"cluster": each.cluster, "groups": each.groups} for each in shown.owned
        ],
        "mine": shown.mine,
    }
