"""Asks all rules about one group, and returns what they found.

A rule that cannot be checked keeps its last finding, with its time: between two rounds
of asking the members, findings that rest on their reports stand, and so do those that
need a broker which does not answer. Nothing has been heard against them; after ten
minutes they expire. A rule that raises is a fault of ours: it is logged once, counts as
not checked, and does not affect the other rules.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from rmqcore.model.columns import QueueKey

from .evidence import NOT_ASKED, Evidence, Unchecked
from .finding import WORST_FIRST, Finding, restored_finding
from .memory.since import Since
from .rule import Answer, Queues, Rule
from .rules import RULES

logger = logging.getLogger(__name__)

HELD: Final = "rule"

CARRIED_MS: Final = 600_000
"""How long a finding that cannot be checked again stands."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The error that a rule raised."""

    error: str


@dataclass(frozen=True, slots=True)
class Asked:
    """The rules not checked at one look, by key; those in neither mapping were checked.

    `of` is how many rules there are.
    """

    of: int
    unchecked: Mapping[str, Unchecked]
    failed: Mapping[str, Failure]

    @property
    def checked(self) -> int:
        """How many rules were checked."""
        return self.of - len(self.unchecked) - len(self.failed)


@dataclass(frozen=True, slots=True)
class _Found:
    """A rule's finding at `at_ms`, with the group's members and queues then."""

    finding: Finding
    at_ms: int
    members: tuple[str, ...]
    queues: tuple[QueueKey, ...]


class Judge:
    """The findings of one group, look after look."""

    __slots__ = ("_failing", "_held", "_last", "_rules", "asked")

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        self._rules = rules
        self._held = Since()
        self._last: dict[str, _Found] = {}
        self._failing: set[str] = set()
        self.asked = Asked(len(rules), {}, {})
        """Which rules could be checked at the last look."""

    @classmethod
    def restored(
        cls, dumped: Mapping[str, Any], said: Mapping[str, int] | None = None
    ) -> Judge:
        """Continue from what `dump` returned and later findings (key to since)."""
        judge = cls()
        held = [(key, since, since) for key, since in (said or {}).items()]
        known = dumped.get("held", {}).get(HELD, ())
        judge._held = Since.restored({HELD: [*held, *known]})
        for each in dumped.get("found", ()):
            finding = restored_finding(each["finding"])
            judge._last[finding.key] = _Found(
                finding,
                each["at"],
                tuple(each["members"]),
                tuple(
                    (topic, broker, number) for topic, broker, number in each["queues"]
                ),
            )
        return judge

    def dump(self) -> dict[str, Any]:
        """Return since when rules have held, and their last findings.

        Plain values; empty when nothing was found.
        """
        held = self._held.dump()
        found: dict[str, Any] = {"held": held} if held else {}
        if self._last:
            found["found"] = [
                {
                    "finding": asdict(last.finding),
                    "at": last.at_ms,
                    "members": last.members,
                    "queues": last.queues,
                }
                for last in self._last.values()
            ]
        return found

    def judge(self, evidence: Evidence) -> tuple[Finding, ...]:
        """Return the findings, worst first, then in the order of the rules."""
        standing = frozenset(map(str, self._held.lasting(HELD, 0)))
        found = self._ask(replace(evidence, standing=standing))
        self._held.note(HELD, found, evidence.at_ms)
        said = [
            found[rule.key]
            for rule in self._rules
            if rule.key in found and self._settled(rule)
        ]
        return tuple(sorted(said, key=lambda each: WORST_FIRST.index(each.level)))

    @property
    def rests(self) -> bool:
        """Whether no rule found anything, and none will without news.

        Rules that wait for members to be asked go on waiting.
        """
        asked = self.asked
        return (
            not self._last
            and not asked.failed
            and all(each is NOT_ASKED for each in asked.unchecked.values())
        )

    def since_ms(self, key: str) -> int | None:
        """Return since when a rule has held without a break."""
        return self._held.began_ms(HELD, key)

    def _ask(self, evidence: Evidence) -> dict[str, Finding]:
        unread = evidence.unread
        found: dict[str, Finding] = {}
        unchecked: dict[str, Unchecked] = {}
        failed: dict[str, Failure] = {}
        for rule in self._rules:
            answer = self._answer(rule, evidence, unread | _explained(rule, found))
            if isinstance(answer, Unchecked):
                unchecked[rule.key] = answer
            elif isinstance(answer, Failure):
                failed[rule.key] = answer
            finding = self._finding(rule, answer, evidence)
            if finding is not None:
                found[rule.key] = finding
        self.asked = Asked(len(self._rules), unchecked, failed)
        return found

    def _answer(
        self, rule: Rule, evidence: Evidence, explained: Queues
    ) -> Answer | Failure:
        if rule.told and not evidence.told and evidence.group.members:
            return NOT_ASKED
        try:
            answer = rule.check(evidence, explained)
        except Exception as error:
            if rule.key not in self._failing:
                self._failing.add(rule.key)
                name = evidence.group.name
                logger.exception("group=%s rule=%s failed", name, rule.key)
            return Failure(f"{type(error).__name__}: {error}")
        self._failing.discard(rule.key)
        return answer

    def _finding(
        self, rule: Rule, answer: Answer | Failure, evidence: Evidence
    ) -> Finding | None:
        """Return the finding that a rule's answer leads to, now or as of earlier."""
        if isinstance(answer, Finding):
            finding = _marked(answer, rule, evidence)
            members, queues = _members(evidence), evidence.group.queues.keys
            self._last[rule.key] = _Found(finding, evidence.at_ms, members, queues)
            return finding
        if answer is None:
            self._last.pop(rule.key, None)
            return None
        return self._carried(rule, evidence)

    def _carried(self, rule: Rule, evidence: Evidence) -> Finding | None:
        last = self._last.get(rule.key)
        if last is None:
            return None
        late = evidence.at_ms - last.at_ms > CARRIED_MS
        others = rule.told and last.members != _members(evidence)
        if late or others or last.queues != evidence.group.queues.keys:
            del self._last[rule.key]
            return None
        return replace(last.finding, as_of_ms=last.at_ms)

    def _settled(self, rule: Rule) -> bool:
        lasted = self._held.lasted_ms(HELD, rule.key)
        return lasted is not None and lasted >= rule.settle_ms


def _marked(finding: Finding, rule: Rule, evidence: Evidence) -> Finding:
    """Mark the counts of a rule that could not see the whole group."""
    untold = evidence.untold if rule.told else ()
    if not (evidence.silent or untold):
        return finding
    said = finding.evidence
    if untold:
        everybody = len(set(_members(evidence)))
        said += (("members_told", f"{everybody - len(untold)} / {everybody}"),)
    named = {*finding.values, *(name for name, _value in said)}
    at_least = {*finding.at_least, *(named & set(rule.adds_up))}
    return replace(finding, evidence=said, at_least=tuple(sorted(at_least)))


def _explained(rule: Rule, found: dict[str, Finding]) -> Queues:
    """Return the queues that earlier findings have already explained."""
    queues: set[QueueKey] = set()
    for key in rule.yields_to:
        if key in found:
            queues.update(found[key].queues)
    return frozenset(queues)


def _members(evidence: Evidence) -> tuple[str, ...]:
    return tuple(member.client_id for member in evidence.group.members)
