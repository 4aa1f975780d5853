"""Which findings follow from which, and their order on a page: causes before effects.

A rule that yields to others follows from them where both are found. `ALSO` adds what
rules cannot tell of each other because they look at different facts: a filter that the
members disagree about makes the lag grow, but the rule about lag sees numbers only.
An effect follows a cause only if some queue is named by both, or if the cause is one of
the whole group; and only if the cause could be checked now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from .finding import WORST_FIRST, Finding
from .rules import RULES

_MEMBERS: Final = (
    "shared_client_id",
    "inconsistent_subscriptions",
    "different_topics",
    "mixed_strategies",
)
"""The members differ in something that has to be the same."""

ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "owned_twice": _MEMBERS,
    "unowned_queues": (*_MEMBERS, "flapping"),
    "lock_expired": ("flapping",),
    "stalled": (*_MEMBERS, "flapping", "retries"),
    "losing_ground": (*_MEMBERS, "flapping", "retries", "gone"),
    "hot_queue": _MEMBERS,
    "lost_messages": ("gone", "stopped", "stuck_commit", "stalled", "losing_ground"),
    "dead_letters": ("retries",),
}

WHOLE_GROUP: Final = frozenset({"retries", "flapping"})
"""Causes that concern every queue where they name none: a listener that fails, and
members that come and go."""

FOLLOWS: Final[Mapping[str, frozenset[str]]] = {
    rule.key: frozenset(rule.yields_to) | frozenset(ALSO.get(rule.key, ()))
    for rule in RULES
}
_PLACE: Final = {rule.key: place for place, rule in enumerate(RULES)}


def in_causal_order(
    findings: Iterable[Finding],
) -> list[tuple[Finding, str | None]]:
    """Return each finding with the key of the one that it follows from, if any.

    A cause stands before its effects, and is as urgent as the worst of them; causes
    come worst first, then in the order of the rules.
    """
    found = sorted(findings, key=_place)
    cause = {each.key: _cause(each, found) for each in found}
    effects: dict[str | None, list[Finding]] = {}
    for each in found:
        effects.setdefault(cause[each.key], []).append(each)
    return [(each, cause[each.key]) for each in _listed(None, effects)]


def _cause(effect: Finding, found: Sequence[Finding]) -> str | None:
    """Return the first finding that explains this one.

    Causes lead back to no finding that they explain, since `FOLLOWS` has no cycle.
    """
    wanted = FOLLOWS.get(effect.key, frozenset())
    for each in found:
        if each.key in wanted and each.as_of_ms is None and _explains(each, effect):
            return each.key
    return None


def _explains(cause: Finding, effect: Finding) -> bool:
    if cause.key in WHOLE_GROUP and not cause.queues:
        return True
    return not set(cause.queues).isdisjoint(effect.queues)


def _listed(
    cause: str | None, effects: Mapping[str | None, list[Finding]]
) -> list[Finding]:
    ranked = sorted(effects.get(cause, ()), key=lambda each: _urgency(each, effects))
    return [one for each in ranked for one in (each, *_listed(each.key, effects))]


def _urgency(
    finding: Finding, effects: Mapping[str | None, list[Finding]]
) -> tuple[int, int]:
    levels = [WORST_FIRST.index(finding.level)]
    levels += [_urgency(each, effects)[0] for each in effects.get(finding.key, ())]
    return min(levels), _place(finding)


def _place(finding: Finding) -> int:
    return _PLACE.get(finding.key, len(_PLACE))
