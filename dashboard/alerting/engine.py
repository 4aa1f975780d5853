"""Judges the rules of one cluster, look by look; pure, and without a clock.

Each pair of a rule and a group (or broker) stands somewhere between quiet and firing
(`analytics.holding`). Only pairs that are not quiet are kept: with 10,000 groups and 20
rules there are 200,000 pairs. What begins to fire and what ends is collected as *news*
until it has been written (`take_news`, `put_back`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from analytics.holding import QUIET, Reading, Standing, step
from dashboard.accounts.owners import NOBODY, Owners
from dashboard.live.alert_documents import AlertingDocument, RuleState
from dashboard.live.documents import FindingState
from dashboard.models import Alert

from .facts import Facts, broker_facts, cause_of, group_facts
from .kinds import Kind
from .looks import BrokerLook, GroupLook
from .movement import Movement
from .readings import read_broker, read_group
from .rules import Rule

UNKNOWN_NAMED: Final = 5
URGENT_GROUPS: Final = 20
"""More groups than this are not looked at each second for the sake of alerts."""

MOVING: Final = frozenset({Kind.IN_STOPS, Kind.OUT_STOPS, Kind.DEAD_LETTERS})

Pair = tuple[int, str]
"""The number of a rule, and the name of a group or broker."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A rule begins to fire for a group or broker."""

    rule: Rule
    subject: str
    began_ms: int
    at_ms: int
    cause: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class Closing:
    """A rule has ceased to fire; `end` is one of `Alert.End`."""

    rule: int
    subject: str
    at_ms: int
    end: str


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding came up that explains what fires already."""

    rule: int
    subject: str
    finding: FindingState


News = Opening | Closing | Explained


@dataclass(frozen=True, slots=True)
class OpenSubject:
    """A subject of an alert that is open in the database."""

    rule: int
    subject: str
    began_ms: int
    opened_ms: int
    explained: bool


@dataclass(slots=True)
class _Memory:
    """What is kept of one group: the rules that cover it, and its movement."""

    rules: tuple[Rule, ...]
    movement: Movement = field(default_factory=Movement)


@dataclass(frozen=True, slots=True)
class _Coverage:
    """How many groups each rule is about, and the groups of those about few."""

    sizes: Counter[int]
    few: frozenset[str]


class Engine:
    """The rules of one cluster, from the beginning of a lead to its end."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster
        self._rules: dict[int, Rule] = {}
        self._owners = NOBODY
        self._groups: dict[str, _Memory] = {}
        self._standings: dict[Pair, Standing] = {}
        self._unexplained: set[Pair] = set()
        self._brokers: frozenset[str] = frozenset()
        self._movements: dict[str, Mapping[str, Any]] = {}
        self._news: list[News] = []
        self._coverage: _Coverage | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there are no rules, and nothing is left of earlier ones."""
        return not (self._rules or self._standings or self._news)

    def set_rules(
        self, rules: Iterable[Rule], at_ms: int, owners: Owners = NOBODY
    ) -> None:
        """Take the rules that are on now; what fires by others ends.

        A rule that was changed goes on from where it stood, under its new limits.
        `owners` is the same object for as long as ownership is the same.
        """
        wanted = {rule.pk: rule for rule in rules}
        same = wanted == self._rules and owners is self._owners
        self._rules, self._owners = wanted, owners
        if same:
            return
        self._coverage = None
        for name, memory in self._groups.items():
            memory.rules = self._covering(name)
        for pair, standing in list(self._standings.items()):
            if not self._is_covered(pair):
                self._forget(pair, standing, at_ms, Alert.End.RULE)

    def restore(
        self,
        memory: Mapping[str, Any] | None,
        open_subjects: Iterable[OpenSubject],
    ) -> None:
        """Continue from what an earlier leader left, and what the database has open.

        What is open there fires; what only the memory says to fire was never written,
        and has to be seen to hold once more.
        """
        left = memory or {}
        self._movements = dict(left.get("movements", {}))
        standings = {
            (pk, name): Standing(**plain)
            for pk, name, plain in left.get("standings", ())
        }
        opened = {(each.rule, each.subject): each for each in open_subjects}
        for pair, standing in standings.items():
            if pair not in opened and not standing.fires:
                self._standings[pair] = standing
        for pair, each in opened.items():
            standing = standings.get(pair, QUIET)
            if not standing.fires:
                standing = Standing(
                    "firing", each.began_ms, each.began_ms, each.opened_ms
                )
            self._standings[pair] = standing
            if not each.explained:
                self._unexplained.add(pair)

    def dump(self) -> dict[str, Any]:
        """Return what the next leader needs, as plain values."""
        movements = {
            name: memory.movement.dump()
            for name, memory in self._groups.items()
            if any(rule.kind in MOVING for rule in memory.rules)
        }
        return {
            "standings": [
                [pk, name, asdict(standing)]
                for (pk, name), standing in self._standings.items()
            ],
            "movements": {**self._movements, **movements},
        }

    def look(self, look: GroupLook) -> None:
        """Judge the rules that are about a group."""
        memory = self._groups.get(look.group)
        if memory is None:
            memory = self._meet(look.group)
        standings, group = self._standings, look.group
        for rule in memory.rules:
            read = read_group(rule, look, memory.movement)
            pair = (rule.pk, group)
            before = standings.get(pair)
            if before is None:
                if read.reading is Reading.CLEAR or read.reading is Reading.BETWEEN:
                    continue  # by far the most
                before = QUIET
            now = self._step(rule, pair, before, read.reading, look.at_ms)
            if now.fires and not before.fires:
                facts = group_facts(rule, look, read, memory.movement)
                self._opened(rule, pair, now, facts)
            elif now.fires and pair in self._unexplained:
                finding = cause_of(rule, look.findings)
                if finding is not None:
                    self._unexplained.discard(pair)
                    self._news.append(Explained(*pair, finding))

    def look_at_brokers(self, looks: Iterable[BrokerLook], at_ms: int) -> None:
        """Judge the rules about brokers; those not named any more are gone."""
        looks = list(looks)
        rules = [self._rules[pk] for pk in self._broker_rules()]
        for look in looks:
            for rule in rules:
                read, pair = read_broker(rule, look), (rule.pk, look.name)
                before = self._standings.get(pair, QUIET)
                now = self._step(rule, pair, before, read.reading, look.at_ms)
                if now.fires and not before.fires:
                    self._opened(rule, pair, now, broker_facts(rule, look, read))
        self._brokers = frozenset(look.name for look in looks)
        numbers = self._broker_rules()
        for pair, standing in list(self._standings.items()):
            if pair[0] in numbers and pair[1] not in self._brokers:
                self._forget(pair, standing, at_ms, Alert.End.GONE)

    def drop_all_but(self, names: Collection[str], at_ms: int) -> None:
        """Forget groups that are gone; what fires for them ends."""
        for name in [name for name in self._groups if name not in names]:
            del self._groups[name]
            self._coverage = None
        brokers = self._broker_rules()
        for pair, standing in list(self._standings.items()):
            if pair[0] not in brokers and pair[1] not in names:
                self._forget(pair, standing, at_ms, Alert.End.GONE)

    def urgent(self) -> frozenset[str]:
        """Return the groups to be looked at each second, if they are few.

        Those for which a rule is about to fire, or has just ceased to hold; then those
        of the rules that are about the fewest groups.
        """
        brokers = self._broker_rules()
        chosen = sorted(
            {
                name
                for (pk, name), standing in self._standings.items()
                if pk not in brokers and standing.state in {"pending", "clearing"}
            }
        )
        few = self._covered().few
        if len(few.union(chosen)) <= URGENT_GROUPS:
            return few.union(chosen)
        return frozenset(chosen[:URGENT_GROUPS])

    def take_news(self) -> list[News]:
        """Return what has begun and ended since the last call, in order."""
        news, self._news = self._news, []
        return news

    def put_back(self, news: list[News]) -> None:
        """Keep news that could not be written, before those that came meanwhile."""
        self._news[:0] = news

    def document(self, at_ms: int) -> AlertingDocument:
        """Return how each rule stands."""
        subjects = self._covered().sizes
        rules: dict[str, RuleState] = {}
        for pk, rule in self._rules.items():
            broker = rule.kind == Kind.BROKER
            rules[str(pk)] = {
                "subjects": len(self._brokers) if broker else subjects[pk],
                "firing": 0,
                "pending": 0,
                "unknown": 0,
                "unknown_since": None,
                "unknown_names": [],
            }
        for (pk, name), standing in sorted(self._standings.items()):
            _add(rules[str(pk)], name, standing)
        return {"cluster": self.cluster, "taken_at": at_ms, "rules": rules}

    def _meet(self, group: str) -> _Memory:
        dumped = self._movements.pop(group, None)
        memory = _Memory(self._covering(group), Movement(dumped))
        self._groups[group] = memory
        self._coverage = None
        return memory

    def _broker_rules(self) -> set[int]:
        return {pk for pk, rule in self._rules.items() if rule.kind == Kind.BROKER}

    def _covered(self) -> _Coverage:
        if self._coverage is None:
            names: dict[int, set[str]] = {}
            for name, memory in self._groups.items():
                for rule in memory.rules:
                    names.setdefault(rule.pk, set()).add(name)
            few: set[str] = set()
            for each in sorted(names.values(), key=len):
                if len(few | each) > URGENT_GROUPS:
                    break
                few |= each
            sizes = Counter({pk: len(each) for pk, each in names.items()})
            self._coverage = _Coverage(sizes, frozenset(few))
        return self._coverage

    def _covering(self, group: str) -> tuple[Rule, ...]:
        if not self._rules:
            return ()
        team = self._team_of(group)
        return tuple(rule for rule in self._rules.values() if rule.covers(group, team))

    def _team_of(self, group: str) -> str | None:
        owner = self._owners.of(group)
        return None if owner is None else owner.team

    def _is_covered(self, pair: Pair) -> bool:
        rule = self._rules.get(pair[0])
        if rule is None or rule.kind == Kind.BROKER:
            return rule is not None
        return rule.covers(pair[1], self._team_of(pair[1]))

    def _step(
        self, rule: Rule, pair: Pair, before: Standing, reading: Reading, at_ms: int
    ) -> Standing:
        now = step(
            before,
            reading,
            at_ms,
            hold_ms=rule.hold_ms,
            clear_ms=rule.clear_ms,
        )
        if now.state == "quiet" and now.unknown_ms is None:
            self._standings.pop(pair, None)
        else:
            self._standings[pair] = now
        if before.fires and not now.fires:
            self._unexplained.discard(pair)
            self._news.append(Closing(*pair, at_ms, Alert.End.CLEARED))
        return now

    def _opened(self, rule: Rule, pair: Pair, now: Standing, facts: Facts) -> None:
        finding = facts.get("finding")
        if finding is None and rule.kind != Kind.BROKER:
            self._unexplained.add(pair)
        cause = finding["key"] if finding is not None else ""
        if rule.kind == Kind.BROKER:
            cause = facts["condition"]
        self._news.append(
            Opening(rule, pair[1], now.began_ms, now.read_ms, cause, facts)
        )

    def _forget(self, pair: Pair, standing: Standing, at_ms: int, end: str) -> None:
        del self._standings[pair]
        self._unexplained.discard(pair)
        if standing.fires:
            self._news.append(Closing(*pair, at_ms, end))


def _add(state: RuleState, name: str, standing: Standing) -> None:
    if standing.fires:
        state["firing"] += 1
    elif standing.state == "pending":
        state["pending"] += 1
    since = standing.unknown_ms
    if since is None:
        return
    state["unknown"] += 1
    state["unknown_since"] = min(state["unknown_since"] or since, since)
    if len(state["unknown_names"]) < UNKNOWN_NAMED:
        state["unknown_names"].append(name)
