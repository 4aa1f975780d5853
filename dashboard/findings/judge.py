"""Asks all rules of one group, and says what they found.

Between two askings of the members, rules that rest on their word find what they found
last, as long as the group is the same: nothing was heard that would speak against it.
"""

from __future__ import annotations

from typing import Final

from rmqcore.model.columns import QueueKey

from .evidence import Evidence
from .finding import WORST_FIRST, Finding
from .memory.since import Since
from .rule import Queues, Rule
from .rules import RULES

CARRIED_MS: Final = 600_000
"""How long members' word is carried on where they are not asked again."""

_Same = tuple[tuple[str, ...], tuple[QueueKey, ...]]


class Judge:
    """The findings of one group, look after look."""

    __slots__ = ("_held", "_told", "_told_ms", "_told_of")

    def __init__(self) -> None:
        self._held = Since()
        self._told: dict[str, Finding] = {}
        self._told_of: _Same | None = None
        self._told_ms = 0

    def judge(self, evidence: Evidence) -> tuple[Finding, ...]:
        """Return the findings, worst first, then in the order of the rules."""
        found = self._ask(evidence)
        self._held.note("rule", found, evidence.at_ms)
        said = [
            found[rule.key]
            for rule in RULES
            if rule.key in found and self._settled(rule)
        ]
        return tuple(sorted(said, key=lambda each: WORST_FIRST.index(each.level)))

    def since_ms(self, key: str) -> int | None:
        """Return since when a rule has held without a break."""
        return self._held.began_ms("rule", key)

    def _ask(self, evidence: Evidence) -> dict[str, Finding]:
        carried = self._carried(evidence)
        unread = evidence.unread
        found: dict[str, Finding] = {}
        for rule in RULES:
            finding = (
                carried.get(rule.key)
                if rule.told and not evidence.told
                else rule.check(evidence, unread | _explained(rule, found))
            )
            if finding is not None:
                found[rule.key] = finding
        if evidence.told:
            self._told = {
                rule.key: found[rule.key]
                for rule in RULES
                if rule.told and rule.key in found
            }
            self._told_of, self._told_ms = _same(evidence), evidence.at_ms
        return found

    def _carried(self, evidence: Evidence) -> dict[str, Finding]:
        if evidence.told or not self._told:
            return {}
        if evidence.at_ms - self._told_ms > CARRIED_MS:
            return {}
        return self._told if self._told_of == _same(evidence) else {}

    def _settled(self, rule: Rule) -> bool:
        lasted = self._held.lasted_ms("rule", rule.key)
        return lasted is not None and lasted >= rule.settle_ms


def _explained(rule: Rule, found: dict[str, Finding]) -> Queues:
    """Return the queues that findings before have explained already."""
    queues: set[QueueKey] = set()
    for key in rule.yields_to:
        if key in found:
            queues.update(found[key].queues)
    return frozenset(queues)


def _same(evidence: Evidence) -> _Same:
    group = evidence.group
    return tuple(m.client_id for m in group.members), group.queues.keys
