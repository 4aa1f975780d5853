"""What a newcomer can do on the embedded cluster: open a group, add a consumer, a lab.

The steps are shown only while there is little else to see: on the page of a cluster
with dozens of groups, or of clusters that people depend on, they would stand between
the reader and what is wrong. They go for good once the reader has done what can be
told from the audit; opening a group cannot, because reading leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.documents import OverviewRow
from dashboard.models import AuditEntry, User

MOST_GROUPS: Final = 8
"""With more groups than these, there is enough to see."""

ADD: Final = "member.add"
PLAY: Final = "lab.start"


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """The steps of one reader; `is_behind` says that `lacking` needs the consumer."""

    cluster: str
    opened: str
    lacking: str
    is_behind: bool
    has_added: bool
    has_played: bool


def first_steps(
    user: User, cluster: str, groups: Sequence[OverviewRow]
) -> FirstSteps | None:
    """Return the steps; None where there is more to see, or all have been done."""
    hosted = [row for row in groups if row["managed"]]
    if not hosted or len(groups) > MOST_GROUPS:
        return None
    done = _done(user, cluster)
    if done == {ADD, PLAY}:
        return None
    opened = min(row["group"] for row in hosted)
    behind = min((row["group"] for row in hosted if _lacks_members(row)), default="")
    return FirstSteps(
        cluster,
        opened,
        lacking=behind or opened,
        is_behind=bool(behind),
        has_added=ADD in done,
        has_played=PLAY in done,
    )


def _lacks_members(row: OverviewRow) -> bool:
    """Tell whether one more member lets the group keep up, as far as one can tell.

    An orderly group that is behind because of one queue is not helped by a member.
    """
    return row["status"]["word"] == "falling_behind" and not row["orderly"]


def _done(user: User, cluster: str) -> set[str]:
    entries = AuditEntry.objects.filter(
        actor=user,
        action__in=(ADD, PLAY),
        cluster=cluster,
        outcome=AuditEntry.Outcome.DONE,
    )
    return set(entries.order_by().values_list("action", flat=True).distinct())
