"""Which groups of a cluster a rule would be about now."""

from __future__ import annotations

from dashboard.accounts.owners import owners
from dashboard.live import overview_rows
from dashboard.live.documents import Overview
from dashboard.wording.patterns import matches


def groups_of(overview: Overview, pattern: str, team: str = "") -> list[str]:
    """Return the groups that match a pattern and, if one is given, that a team owns."""
    names = overview_rows.groups_of(overview["groups"])
    found = sorted(name for name in names if matches(pattern, name))
    if not team:
        return found
    of = owners(overview["cluster"]).of
    owned = [(name, of(name)) for name in found]
    return [name for name, owner in owned if owner and owner.team == team]
