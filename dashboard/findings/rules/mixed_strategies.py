"""Members divide the queues by different strategies.

Each member computes its own part alone. Where the computations differ, parts overlap
and leave gaps. This lasts for a while when a strategy is being changed member by
member, and for good when two releases are configured differently.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "mixed_strategies"


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Compare the strategies that members report."""
    if not evidence.owned:
        return None
    users: dict[str, list[str]] = {}
    for member in evidence.told_members():
        if member.strategy is not None:
            users.setdefault(member.strategy, []).append(member.client_id)
    if len(users) < 2:
        return evidence.needs_everybody()
    ordered = sorted(users.items(), key=lambda item: (-len(item[1]), item[0]))
    twice, unowned = evidence.rows_that("double"), evidence.rows_that("unowned")
    return Finding(
        KEY,
        "crit" if twice or unowned else "warn",
        values={"strategies": [name for name, _clients in ordered]},
        evidence=(
            *(("members_with", f"{name} × {len(who)}") for name, who in ordered),
            *((("owned_twice", len(twice)),) if twice else ()),
            *((("without_owner", len(unowned)),) if unowned else ()),
        ),
        queues=evidence.keys_of([*twice, *unowned]),
        members=tuple(sorted(c for _name, who in ordered[1:] for c in who)),
    )


SAYS: Final = {
    "state": _("Mixed strategies"),
    "title": _("Members divide by different strategies"),
    "text": _(
        "In use at once: {strategies}. Each member computes its own "
        "share, and the shares do not fit together: queues can have two "
        "owners, or none."
    ),
    "advice": _(
        "Set the same strategy in all members. While a change rolls out, this lasts "
        "until the last member has it."
    ),
}

RULE: Final = Rule(
    KEY, check, SAYS, told=True, adds_up=("owned_twice", "without_owner")
)
