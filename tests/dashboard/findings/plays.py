"""A group played look by look, for rules to judge: made from a few words.

A `Play` holds a group's queues and members and passes time; each look goes the way it
goes in the collector. Rows are judged by the real tracker of owners. `raw` collects
what rules find on their own at any look, `said` what the judge says at the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dashboard.collector.handovers import MOVED, Handovers
from dashboard.collector.ownership import OwnershipTracker
from dashboard.collector.rates import History
from dashboard.findings import RULES, Asked, Finding, GroupMemory, Judge, Sighting
from dashboard.findings.evidence import Evidence
from rmqcore.allocation import allocate_group
from rmqcore.model import ConsumeType, MessageModel, MessageQueue, SubscriptionData
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import (
    EMPTY_TABLE,
    GroupKind,
    GroupSnapshot,
    HeldQueue,
    MemberSnapshot,
    Owners,
    OwnerSource,
    QueueTable,
    StrategySource,
)

NOW = 1_700_000_000_000
TOPIC = "orders"


def queues(count: int, topic: str = TOPIC, broker: str = "a") -> list[QueueKey]:
    return [(topic, broker, number) for number in range(count)]


@dataclass
class Actor:
    """One connection of a group's client; `holds` None when it does not tell."""

    client_id: str
    holds: list[QueueKey] | None = field(default_factory=list)
    reads: Mapping[str, str] | None = None
    strategy: str | None = "AVG"
    orderly: bool = False
    started_ms: int = NOW
    held: dict[QueueKey, HeldQueue] = field(default_factory=dict)
    pulls: bool = True
    brokers: tuple[str, ...] = ("a",)

    def said(self, now_ms: int) -> MemberSnapshot:
        """Return the member as a look that asks it sees it."""
        fresh = HeldQueue(committed=0, locked=self.orderly)
        held = {
            key: replace(
                self.held.get(key, fresh), last_pull_ms=now_ms if self.pulls else NOW
            )
            for key in self.holds or ()
        }
        return MemberSnapshot(
            self.client_id,
            address=f"{self.client_id.partition('@')[0]}:4711",
            language="JAVA",
            version="V5_5_0",
            brokers=self.brokers,
            strategy=self.strategy,
            subscriptions=None
            if self.reads is None
            else tuple(SubscriptionData(t, e) for t, e in self.reads.items()),
            orderly=self.orderly,
            started_at_ms=self.started_ms,
            queues=None if self.holds is None else tuple(self.holds),
            held=held,
            asked_at_ms=now_ms,
            answered_at_ms=now_ms,
            reason=None,
        )


class Play:
    """A group and the looks at it; members read `TOPIC` unless they say otherwise."""

    def __init__(
        self,
        keys: Sequence[QueueKey] | int = 4,
        *,
        kind: GroupKind = GroupKind.OWNED,
        consume_type: ConsumeType = ConsumeType.PUSH,
        end: int = 1_000,
    ) -> None:
        self.keys = queues(keys) if isinstance(keys, int) else sorted(keys)
        self.kind, self.consume_type = kind, consume_type
        count = len(self.keys)
        self.low: list[int] = [0] * count
        self.high: list[int | None] = [end] * count
        self.done: list[int | None] = [end] * count
        self.pulled: list[int | None] = [None] * count
        self.actors: list[Actor] = []
        self.sent_back = 0
        self.dead_letters = 0
        self.filtered_by: dict[str, str] = {}
        self.silent: set[str] = set()
        """Brokers that do not tell offsets."""
        self.now = NOW
        self.said: tuple[Finding, ...] = ()
        self.raw: set[str] = set()
        self.ever: set[str] = set()
        self.evidence: Evidence | None = None
        self._memory, self._judge = GroupMemory(), Judge()
        self._tracker, self._handovers = OwnershipTracker(), Handovers()
        self._history = History()
        self._before: set[str] | None = None

    # Setting up

    def join(self, *names: str, **changes: object) -> list[Actor]:
        """Let members join; they hold nothing until `divide`."""
        changes.setdefault("reads", {topic: "*" for topic, *_ in self.keys})
        changes.setdefault("holds", [])
        joined = [Actor(name, **changes) for name in names]  # type: ignore[arg-type]
        self.actors = sorted([*self.actors, *joined], key=lambda a: a.client_id)
        return joined

    def leave(self, *names: str) -> None:
        self.actors = [a for a in self.actors if a.client_id not in names]

    def divide(self) -> Play:
        """Let each member hold what AVG gives it."""
        plan = self._plan()
        for actor in self.actors:
            actor.holds = list(plan.get(actor.client_id, []))
        return self

    # Passing time

    def look(self, *, asked: bool = True) -> Play:
        """Let the collector look now."""
        group = self._group(asked)
        ownership = self._tracker.judge(group, self.now)
        self._history.add(self.now, group.queues)
        handovers = self._handovers.observe(group.queues.keys, ownership, self.now)
        present = {member.client_id for member in group.members}
        before = present if self._before is None else self._before
        evidence = self._memory.see(
            Sighting(
                at_ms=self.now,
                group=group,
                rows=ownership.rows,
                asked=asked,
                told=asked,
                joined=sorted(present - before),
                left=sorted(before - present),
                moved=[each.key for each in handovers if each.kind == MOVED],
                dead_letters=self.dead_letters,
                flow=self._history.rates(),
            )
        )
        self.evidence = evidence
        self._before = present
        self._ask(evidence)
        return self

    def pass_time(
        self,
        seconds: int,
        *,
        every: int = 1,
        sent: Mapping[int, float] | float = 0,
        consumed: Mapping[int, float] | float | None = None,
        asked: bool = True,
    ) -> Play:
        """Pass time, with messages a second per row, committed every five seconds.

        `consumed` is as much as is sent unless it is given.
        """
        begin = self.now
        start_high, start_done = list(self.high), list(self.done)
        for second in range(every, seconds + 1, every):
            self.now = begin + second * 1000
            for row, (high, done) in enumerate(
                zip(start_high, start_done, strict=True)
            ):
                flow_in = _of(sent, row)
                flow_out = flow_in if consumed is None else _of(consumed, row)
                now_high = self.high[row]
                if high is not None:
                    now_high = self.high[row] = high + round(flow_in * second)
                if done is not None and now_high is not None:
                    committed = done + round(flow_out * (second - second % 5))
                    self.done[row] = min(now_high, committed)
            self.look(asked=asked)
        return self

    @property
    def found(self) -> dict[str, Finding]:
        """What is said now, by key."""
        return {finding.key: finding for finding in self.said}

    @property
    def asked(self) -> Asked:
        """How the rules fared at the last look."""
        return self._judge.asked

    def began_ms(self, key: str) -> int | None:
        """Since when a rule has held."""
        return self._judge.since_ms(key)

    # Private

    def _ask(self, evidence: Evidence) -> None:
        self.raw |= {
            rule.key
            for rule in RULES
            if isinstance(rule.check(evidence, evidence.unread), Finding)
        }
        self.said = self._judge.judge(evidence)
        self.ever |= {finding.key for finding in self.said}

    def _plan(self) -> dict[str, list[QueueKey]]:
        plan: dict[str, list[QueueKey]] = {}
        clients = [actor.client_id for actor in self.actors]
        for topic in sorted({key[0] for key in self.keys}) if clients else ():
            mine = [MessageQueue(*key) for key in self.keys if key[0] == topic]
            divided = allocate_group("AVG", group="g", queues=mine, client_ids=clients)
            for client, owned in divided.by_client.items():
                keys = [(q.topic, q.broker_name, q.queue_id) for q in owned]
                plan.setdefault(client, []).extend(keys)
        return plan

    def _group(self, asked: bool) -> GroupSnapshot:
        members = tuple(self._member(actor, asked) for actor in self.actors)
        expected = {key: client for client, ks in self._plan().items() for key in ks}
        single = self.kind is GroupKind.OWNED
        owners = (
            Owners(
                tuple((expected[key],) if key in expected else () for key in self.keys),
                (OwnerSource.INFERRED,) * len(self.keys),
            )
            if single
            else Owners(reason=Reason.SHARED)
        )
        broadcasting = self.kind is GroupKind.BROADCASTING
        mode = MessageModel.BROADCASTING if broadcasting else MessageModel.CLUSTERING
        return GroupSnapshot(
            "g",
            self.kind if members else GroupKind.OFFLINE,
            mode if members else None,
            self.consume_type if members else None,
            members,
            tuple(SubscriptionData(t, e) for t, e in self.filtered_by.items()),
            "AVG",
            StrategySource.ASSUMED,
            self._table(),
            self._retry(),
            owners=owners,
            inferred=owners,
        )

    def _member(self, actor: Actor, asked: bool) -> MemberSnapshot:
        said = actor.said(self.now)
        if asked:
            return said
        return MemberSnapshot(
            said.client_id, said.address, said.language, said.version, said.brokers
        )

    def _table(self) -> QueueTable:
        lag = [
            None if high is None or done is None else max(0, high - done)
            for high, done in zip(self.high, self.done, strict=True)
        ]
        return QueueTable(
            tuple(self.keys),
            min=self._column(self.low, Reason.NO_ANSWER),
            max=self._column(self.high, Reason.NO_ANSWER),
            committed=self._column(self.done, Reason.NOTHING_COMMITTED),
            lag=self._column(lag, Reason.NOTHING_COMMITTED),
            pulled=self._column(self.pulled, Reason.NOT_ASKED),
            lag_ms=self._column([None] * len(lag), Reason.NOT_ASKED),
        )

    def _column(self, values: Iterable[int | None], reason: Reason) -> Column:
        return Column.of(
            Reason.NO_ANSWER
            if key[1] in self.silent
            else reason
            if value is None
            else value
            for key, value in zip(self.keys, values, strict=True)
        )

    def _retry(self) -> QueueTable:
        if not self.sent_back:
            return EMPTY_TABLE
        unknown = Column.unknown(1, Reason.NOT_ASKED)
        return QueueTable(
            (("%RETRY%g", "a", 0),),
            min=Column.of([0]),
            max=Column.of([self.sent_back]),
            committed=Column.of([self.sent_back]),
            lag=Column.of([0]),
            pulled=unknown,
            lag_ms=unknown,
        )


def _of(flow: Mapping[int, float] | float, row: int) -> float:
    return flow.get(row, 0) if isinstance(flow, Mapping) else flow
