"""How documents of the API name the team that owns a group."""

from __future__ import annotations

from dashboard.accounts.owners import Owner
from dashboard.live.documents import TeamMark


def team_mark(owner: Owner | None) -> TeamMark | None:
    """Return what a document says of an owner."""
    if owner is None:
        return None
    return {"pk": owner.key, "name": owner.team, "contact": owner.contact}
