"""Teams as one reader sees them: without places on clusters that are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.models import Ownership, Team, User


@dataclass(frozen=True, slots=True)
class ShownTeam:
    """A team, the names of its members, and what it owns that the reader may see."""

    team: Team
    members: Sequence[str]
    owned: Sequence[Ownership]
    mine: bool


def teams_seen(user: User, pk: int | None = None) -> list[ShownTeam]:
    """Return the teams that a user may see, or the one of that number, by name."""
    teams = Team.objects.seen_by(user)
    if pk is not None:
        teams = teams.filter(pk=pk)
    names = user.clusters_seen
    return [
        ShownTeam(
            team,
            sorted(each.username for each in team.members.all()),
            [
                each
                for each in team.ownerships.all()
                if names is None or not each.cluster or each.cluster in names
            ],
            any(each.pk == user.pk for each in team.members.all()),
        )
        for team in teams.prefetch_related("members", "ownerships")
    ]
