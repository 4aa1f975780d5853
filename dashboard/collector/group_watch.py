"""The collector's memory of one group, from one sweep to the next.

`see` takes a group as a sweep saw it, in order of time, and returns the conclusions: a
`Sight` to show, the turn of an epoch and the handovers of queues to keep. Sweeps of all
groups do not ask members; while a group is watched, the ownership last reported stands
until it is asked again, unless members or queues changed: then nothing is concluded
about owners (`Seen.sight` is None) and the group has to be asked.

A sight is one set of facts: table, owners, rates, findings and epoch of one look. While
a broker that the group needs is away (see `presence`), values that can be read stay
fresh and the others keep their last state; status, findings and epoch are held for a
while, and after that the rest is judged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from dashboard.findings import (
    GroupMemory,
    Judge,
    Sighting,
    finding_document,
    finds_nothing,
    in_causal_order,
    rules_document,
)
from dashboard.live.documents import (
    EpochMark,
    FindingState,
    GroupState,
    Held,
    QueueTrend,
    Status,
    Text,
)
from dashboard.wording.names import label_of
from rmqcore.model.snapshot import GroupKind, GroupSnapshot

from .ages import Ages
from .epochs import EpochBook, EpochTurn, WantedStrategy, membership_of
from .frames import digest_of
from .group_document import Sight, group_totals, sight_status
from .handovers import MOVED, Handover, Handovers
from .hues import Hues
from .inheritance import NOTHING, Inherited, encode_at_rest
from .last_known import (
    LastValues,
    dumped_last,
    moment_last,
    newest_last,
    shown_last,
)
from .ownership import Ownership, OwnershipTracker
from .presence import HELD_MS, BrokerState, Standing
from .queue_trends import QueueTrends
from .rates import WINDOW_MS, History, Sample
from .samples import Sampler
from .sleepers import APART_MS, STEADY_MS, Looks

REPORT_STANDS_MS: Final = 15_000
"""How long members' reports count after the group was last asked."""

LABELS_TOLD: Final = 3

SLEPT_IN_WINDOW: Final = WINDOW_MS // STEADY_MS + 2
"""Of the looks that a sleeping group catches up with, rates follow from the last few;
earlier ones are before the window."""


@dataclass(frozen=True, slots=True)
class Look:
    """One sweep's view of a group; `asked` when its members were asked (307).

    `standing` is that of the whole cluster. `wish` is set for hosted groups. `hosted`
    are the members hosted here, with the time since which a listener of theirs is busy.
    `dead_letters` counts all messages that ever came to the group's dead-letter topic.
    """

    cluster: str
    group: GroupSnapshot
    standing: Standing
    taken_at_ms: int
    asked: bool
    hosted: Mapping[str, int | None] = field(default_factory=dict)
    wish: WantedStrategy | None = None
    dead_letters: int | None = None
    shown: bool = True
    """Whether the group's document is wanted, with its lag over the last minutes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The result of one look; `sight` is None when the group must be asked first.

    `rests` when at most offsets, rates and ages are new, `fades` when the rates alone
    are. `still` when nothing but the time will be new until something moves (see
    `GroupWatch.sleep`).
    """

    sight: Sight | None
    turn: EpochTurn | None = None
    handovers: tuple[Handover, ...] = ()
    rests: bool = False
    fades: bool = False
    still: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """The judgement made when everything that the group needs was last known."""

    at_ms: int
    findings: tuple[FindingState, ...]
    status: Status


@dataclass(slots=True)
class _Rest:
    """What a look has to show for a group at rest to stay so."""

    group: GroupSnapshot
    dead_letters: int | None
    brokers: frozenset[str]


class GroupWatch:
    """One group's memory; see the module's docstring."""

    __slots__ = (
        "_book",
        "_handovers",
        "_history",
        "_hues",
        "_joined",
        "_last",
        "_last_change",
        "_last_values",
        "_left",
        "_left_at_rest",
        "_looks",
        "_looks_noted",
        "_memory",
        "_ownership",
        "_rest",
        "_rules",
        "_taken_at_ms",
        "_tracker",
        "_trends",
        "_turns",
        "_whole",
        "ages",
        "asked_at_ms",
        "sampler",
        "shown",
        "sight",
    )

    def __init__(
        self,
        book: EpochBook,
        earlier: GroupState | None = None,
        inherited: Inherited = NOTHING,
    ) -> None:
        """Begin with the running epoch and what an earlier leader showed and left."""
        memory, moments = inherited.memory, inherited.moments
        self._book = book
        self.sampler = Sampler()
        self.ages = Ages()
        self.shown: GroupState | None = None
        """The document that readers have, of this run."""
        self.sight: Sight | None = None
        """The newest set of facts; while nothing moves, of an earlier time."""
        self.asked_at_ms: int | None = None
        self._ownership: Ownership | None = None
        self._whole = _newest_whole(earlier, memory.get("whole"))
        self._last: GroupSnapshot | None = None
        self._taken_at_ms = 0
        self._tracker = OwnershipTracker.restored(memory.get("suspects", ()))
        self._handovers = Handovers.restored(memory.get("owners", {}), inherited.keys)
        self._handovers.catch_up(inherited.written)
        self._book.owners = self._handovers.owners
        self._last_values = LastValues(
            newest_last(
                shown_last(earlier["queues"], earlier["taken_at"]) if earlier else {},
                dumped_last(memory.get("last", ())),
                moment_last(moments[-1], self._book.owners) if moments else {},
            )
        )
        self._history = History(
            [
                Sample(each.at_ms, each.queues)
                for each in moments
                if moments[-1].at_ms - each.at_ms <= WINDOW_MS
            ]
        )
        self._trends = QueueTrends.restored(
            earlier.get("trend") if earlier else None,
            [(each.at_ms, each.queues) for each in moments],
        )
        self._memory = GroupMemory.restored(
            memory.get("findings", {}), inherited.keys, moments
        )
        said = _said(earlier) if earlier and inherited.unbroken else {}
        self._rules = Judge.restored(memory.get("judge", {}), said)
        self._turns: list[EpochTurn] = []
        self._joined: list[str] = []
        self._left: list[str] = []
        shown = _shown_slots(earlier) if earlier else {}
        self._hues = Hues.restored(shown, memory.get("hues", {}))
        self._last_change = _newest_change(earlier, memory.get("change"))
        self._rest: _Rest | None = None
        """Set while the group is at rest."""
        self._left_at_rest: orjson.Fragment | None = None
        """What is left to the next leader while only times and offsets are new."""
        self._looks: Looks | None = None
        """Those that count for this group; set while it sleeps."""
        self._looks_noted = 0
        """How many of them are noted here."""

    @property
    def book(self) -> EpochBook:
        """The group's epochs."""
        self._catch_up()
        return self._book

    def left(self, swept_ms: int) -> Any:
        """Return what the next leader continues from after a sweep, to be encoded."""
        if self._rest is None or self.taken_at_ms != swept_ms:
            self._catch_up()
            return self._dump()
        if self._left_at_rest is None:
            online = bool(self._rest.group.members)
            self._left_at_rest = encode_at_rest(self._dump(), online=online)
        return self._left_at_rest

    def _dump(self) -> dict[str, Any]:
        keys = self._last.queues.keys if self._last else ()
        found: dict[str, Any] = {
            "queues": digest_of(keys),
            "hues": self._hues.dump(),
            "change": self._last_change,
            "owners": self._handovers.dump(keys),
            "whole": _plain(self._whole),
            "last": self._last_values.dump(),
            "suspects": self._tracker.dump(),
            "findings": self._memory.dump(keys),
            "judge": self._rules.dump(),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def taken_at_ms(self) -> int:
        """When the newest look was taken; 0 before the first."""
        slept = self._slept()
        return slept[-1] if slept else self._taken_at_ms

    @property
    def seen_at_ms(self) -> int:
        """When the newest look was taken that led to a sight; 0 before the first."""
        slept = self._slept()
        if slept:
            return slept[-1]
        return self.sight.taken_at_ms if self.sight else 0

    @property
    def brokers(self) -> frozenset[str]:
        """The brokers that the group needs while it is at rest."""
        return self._rest.brokers if self._rest else frozenset()

    def sleep(self, looks: Looks) -> None:
        """Have the looks that are noted from now on count for this group.

        For a group that stood still at the last look, if the document of the group is
        not wanted. They have to show the same group, at least `STEADY_MS` and at most
        `APART_MS` after the one before, and leave it at rest; members are not asked.
        """
        self._looks, self._looks_noted = looks, looks.count

    def wake(self) -> None:
        """Catch up with the looks that were noted, and sleep no longer."""
        self._catch_up()
        self._looks = None

    def see(self, look: Look) -> Seen:
        """Record one look; a look older than the last is ignored.

        So is a look for which a broker was merely late: the next one will tell.
        """
        if look.taken_at_ms < self.taken_at_ms:
            return Seen(None)
        self.wake()
        rest = self._rest
        if rest is not None and self._stays(look, rest):
            return self._see_again(look, rest)
        needed = self._needed(look)
        if self.sight is not None and any(
            broker.tolerated(look.taken_at_ms) for broker in needed
        ):
            return Seen(None)
        self._rest = self._left_at_rest = None
        self._taken_at_ms = look.taken_at_ms
        seen = look
        look = replace(look, group=self._with_ages(look))
        turn = self._observe_epoch(look, needed)
        if turn is not None:
            self._turns.append(turn)
        if turn is not None and turn.ended is not None:
            self._joined += turn.joined
            self._left += turn.left
        self._history.add(look.taken_at_ms, look.group.queues)
        self._trends.add(look.taken_at_ms, look.group.queues)
        away = {broker.name for broker in needed if not broker.whole}
        group = self._judge(look, away)
        if group is None or self._ownership is None:
            return Seen(None, turn)
        # While the last reports stand, nothing has confirmed that they still hold.
        stands = not look.asked and self._reports_stand(look.taken_at_ms)
        handovers = (
            []
            if stands
            else self._handovers.observe(
                group.queues.keys, self._ownership, look.taken_at_ms, away
            )
        )
        self.sight = self._sight(look, group, needed, handovers)
        if turn is None and self._comes_to_rest(seen, self.sight):
            names = frozenset(broker.name for broker in needed)
            whole = look.standing.whole
            # Mostly these are all of them, and one set does for all groups.
            if names == whole:
                names = whole
            self._rest = _Rest(seen.group, seen.dead_letters, names)
        return Seen(self.sight, turn, tuple(handovers))

    def _comes_to_rest(self, look: Look, sight: Sight) -> bool:
        """Tell whether next looks that show the same members would find the same.

        Little waits, nothing was found, and nothing is remembered that time alone
        changes, except rates and ages. Looks that ask members, or while their reports
        stand, do not count: what follows from those depends on their age.
        """
        return (
            not (look.asked or look.hosted or look.wish or self._joined or self._left)
            and not self._reports_stand(look.taken_at_ms)
            and not any(member.queues is not None for member in sight.group.members)
            and not sight.findings
            and sight.held is None
            and sight.complete
            and not sight.nameservers
            and self._book.current is not None
            and finds_nothing(sight.group.queues)
            and self._rules.rests
            and self._memory.rests
            and self._tracker.rests
            and self._last_values.rests
            and self._hues.rests
        )

    def _stays(self, look: Look, rest: _Rest) -> bool:
        """Tell whether a look leaves a group at rest: at most a few offsets moved."""
        return (
            look.taken_at_ms - self._taken_at_ms <= APART_MS
            and (look.group is rest.group or _only_moved(rest.group, look.group))
            and not (look.asked or look.hosted or look.wish)
            and look.dead_letters == rest.dead_letters
            and look.standing.calm
            and rest.brokers <= look.standing.whole
        )

    def _see_again(self, look: Look, rest: _Rest) -> Seen:
        """Record a look that leaves the group at rest."""
        now_ms, same = look.taken_at_ms, look.group is rest.group
        apart_ms, self._taken_at_ms = now_ms - self._taken_at_ms, now_ms
        sight, table = self.sight, look.group.queues
        assert sight is not None and self._whole is not None  # noqa: S101, PT018 - at rest
        rest.group = look.group
        self._note([now_ms], look.group)
        fades = same and not any(table.lag.values)
        group = sight.group
        if not fades:
            group = self._last = self._with_ages(look)
        sight = replace(
            sight,
            group=group,
            brokers=[
                each for each in look.standing.brokers if each.name in rest.brokers
            ],
            rates=self._history.rates(),
            trend=self._trend(look),
            taken_at_ms=now_ms,
            totals=None,
            status=None,
        )
        status = self._whole.status
        if not fades:
            sight.conclude()
            status = sight_status(sight, group_totals(sight))
        if status != self._whole.status:
            self._left_at_rest = None
        self._whole = Whole(now_ms, (), status)
        self.sight = sight
        still = fades and apart_ms >= STEADY_MS and self._history.rests
        return Seen(sight, rests=True, fades=fades, still=still)

    def _note(self, times_ms: Sequence[int], group: GroupSnapshot) -> None:
        """Take the offsets of a group at rest at some times, oldest first."""
        table = group.queues
        self._book.see_again(times_ms[-1])
        self._last_values.see_again(table, times_ms[-1])
        for at_ms in times_ms[-SLEPT_IN_WINDOW:]:
            self._history.add(at_ms, table)
        for at_ms in times_ms:
            self._trends.add(at_ms, table)
        self._memory.see_again(times_ms, group)

    def _slept(self) -> Sequence[int]:
        """Return the times of the looks that were noted, but not here."""
        return self._looks.since(self._looks_noted) if self._looks else ()

    def _catch_up(self) -> None:
        """Note the looks at which nothing moved."""
        slept = self._slept()
        if self._looks is None or not slept:
            return
        sight, whole = self.sight, self._whole
        assert sight is not None and whole is not None  # noqa: S101, PT018 - at rest
        self._note(slept, sight.group)
        self._taken_at_ms, self._looks_noted = slept[-1], self._looks.count
        self.ages.fill(sight.group.queues, slept[-1])
        self.sight = replace(sight, taken_at_ms=slept[-1])
        self._whole = replace(whole, at_ms=slept[-1])

    def _trend(self, look: Look) -> QueueTrend | None:
        return self._trends.document(look.taken_at_ms) if look.shown else None

    def _with_ages(self, look: Look) -> GroupSnapshot:
        table = self.ages.fill(look.group.queues, look.taken_at_ms)
        return look.group.with_queues(table)

    def take_turns(self) -> list[EpochTurn]:
        """Return the turns of epochs since this was last called."""
        turns, self._turns = self._turns, []
        return turns

    def _needed(self, look: Look) -> list[BrokerState]:
        """Return the brokers that know, or may know, something about the group."""
        needed = {broker for _topic, broker, _queue_id in look.group.queues.keys}
        needed.update(name for m in look.group.members for name in m.brokers)
        if self._book.current is not None:
            needed |= self._book.current.membership.brokers
        return [
            broker
            for broker in look.standing.brokers
            if broker.name in needed or broker.unheard(look.taken_at_ms)
        ]

    def _find(
        self, look: Look, facts: Sight, handovers: Collection[Handover]
    ) -> list[FindingState]:
        """Ask the rules about what this look shows."""
        joined, self._joined = self._joined, []
        left, self._left = self._left, []
        evidence = self._memory.see(
            Sighting(
                at_ms=look.taken_at_ms,
                group=facts.group,
                rows=facts.ownership.rows,
                asked=look.asked,
                told=look.asked or self._reports_stand(look.taken_at_ms),
                joined=joined,
                left=left,
                moved=[each.key for each in handovers if each.kind == MOVED],
                dead_letters=look.dead_letters,
                silent=[
                    broker.name
                    for broker in facts.brokers
                    if broker.condition not in {"answered", "slave"}
                ],
                flow=facts.rates,
            )
        )
        judge = self._rules
        return [
            finding_document(finding, judge.since_ms(finding.key), cause)
            for finding, cause in in_causal_order(judge.judge(evidence))
        ]

    def _judge(self, look: Look, away: Collection[str]) -> GroupSnapshot | None:
        """Conclude who owns each queue; return the group to show, None if not known."""
        if look.asked:
            self.asked_at_ms = look.taken_at_ms
        elif self._reports_stand(look.taken_at_ms):
            return self._with_last_reports(look.group)
        elif not away and self._ownership is not None and self._owned_alike(look.group):
            self._last = look.group
            return look.group
        self._last = look.group
        self._ownership = self._tracker.judge(look.group, look.taken_at_ms, away)
        return look.group

    def _reports_stand(self, now_ms: int) -> bool:
        return (
            self.asked_at_ms is not None
            and now_ms - self.asked_at_ms <= REPORT_STANDS_MS
        )

    def _owned_alike(self, group: GroupSnapshot) -> bool:
        """Tell whether all that owners are inferred from is the same as last time.

        Most groups are never asked and do not change; judging them anew would be half
        of a sweep's cost.
        """
        last = self._last
        return (
            last is not None
            and self.asked_at_ms is None
            and last.queues.keys == group.queues.keys
            and last.owners == group.owners
            and last.strategy_source == group.strategy_source
            and all(member.queues is None for member in group.members)
        )

    def _with_last_reports(self, group: GroupSnapshot) -> GroupSnapshot | None:
        """Return the group as last asked, with new numbers, if it is still the same."""
        last = self._last
        if last is None or last.queues.keys != group.queues.keys:
            return None
        if [m.client_id for m in last.members] != [m.client_id for m in group.members]:
            return None
        self._last = GroupSnapshot(
            name=group.name,
            kind=group.kind,
            mode=group.mode,
            consume_type=group.consume_type,
            members=last.members,
            subscriptions=group.subscriptions,
            strategy=last.strategy,
            strategy_source=last.strategy_source,
            queues=group.queues,
            retry=group.retry,
            owners=last.owners,
            inferred=last.inferred,
            unknown=group.unknown,
        )
        return self._last

    def _observe_epoch(
        self, look: Look, needed: Sequence[BrokerState]
    ) -> EpochTurn | None:
        now_ms, group = look.taken_at_ms, look.group
        withdrawn = {
            broker.name for broker in needed if broker.snapshot.withdrawn(now_ms)
        }
        silent = {broker.name for broker in needed if not broker.whole} - withdrawn
        unheard = "members" in group.unknown or any(
            member.missing_since_ms is not None for member in group.members
        )
        if silent or unheard:
            return None
        membership = membership_of(group, look.wish, withdrawn)
        turn = self._book.observe(membership, silent, now_ms)
        if turn is not None and turn.ended is not None:
            self._last_change = change_text(turn)
        return turn

    def _sight(
        self,
        look: Look,
        group: GroupSnapshot,
        needed: Sequence[BrokerState],
        handovers: Collection[Handover],
    ) -> Sight:
        """Put the facts of a look together, and judge them unless they are held."""
        facts = self._facts(look, group, needed)
        held = self._held(facts)
        if held is not None and self._whole is not None:
            return replace(
                facts,
                findings=self._whole.findings,
                held=held,
                held_status=self._whole.status,
            )
        found = self._find(look, facts, handovers)
        rules = rules_document(self._rules.asked)
        sight = replace(facts, findings=found, rules=rules)
        sight.conclude()
        if sight.complete:
            status = sight_status(sight, group_totals(sight))
            self._whole = Whole(look.taken_at_ms, tuple(found), status)
        return sight

    def _held(self, facts: Sight) -> Held | None:
        """Return for how long nothing is judged anew; None when judging goes on."""
        if facts.complete or self._whole is None:
            return None
        until_ms = self._whole.at_ms + HELD_MS
        if facts.taken_at_ms >= until_ms:
            return None
        return {"as_of": self._whole.at_ms, "until": until_ms}

    def _facts(
        self, look: Look, group: GroupSnapshot, needed: Sequence[BrokerState]
    ) -> Sight:
        assert self._ownership is not None  # noqa: S101 - judged just before
        epoch = self._book.current
        mark: EpochMark | None = (
            {"number": epoch.number, "began_at": epoch.began_by_ms} if epoch else None
        )
        clients = [member.client_id for member in group.members]
        return Sight(
            cluster=look.cluster,
            group=group,
            brokers=needed,
            nameservers=() if look.standing.agreed() else look.standing.nameservers,
            ownership=self._ownership,
            last=self._last_values.take(
                group.queues, self._ownership, look.taken_at_ms
            ),
            rates=self._history.rates(),
            trend=self._trend(look),
            slots=self._hues.assign(clients, look.taken_at_ms),
            past_slots=self._hues.kept,
            moved_at_ms=self._handovers.moved_at_ms,
            hosted=look.hosted,
            managed=look.wish is not None,
            epoch=mark,
            last_change=self._last_change,
            taken_at_ms=look.taken_at_ms,
        )


def _only_moved(before: GroupSnapshot, group: GroupSnapshot) -> bool:
    """Tell whether nothing but offsets is new, and they lead to no finding.

    Snapshots share what has not changed.
    """
    return (
        group.queues.keys is before.queues.keys
        and group.members is before.members
        and group.retry is before.retry
        and group.owners is before.owners
        and group.inferred is before.inferred
        and group.subscriptions is before.subscriptions
        and group.unknown is before.unknown
        and group.kind is before.kind
        and group.mode is before.mode
        and group.consume_type is before.consume_type
        and group.strategy == before.strategy
        and group.strategy_source is before.strategy_source
        and group.kind is not GroupKind.BROADCASTING
        and finds_nothing(group.queues)
    )


def _plain(whole: Whole | None) -> dict[str, Any] | None:
    if whole is None:
        return None
    return {"at": whole.at_ms, "findings": whole.findings, "status": whole.status}


def _newest_whole(
    earlier: GroupState | None, known: Mapping[str, Any] | None
) -> Whole | None:
    """Return the newest judgement with everything known, shown or remembered."""
    shown = _shown_whole(earlier) if earlier else None
    if known is None or (shown is not None and shown.at_ms >= known["at"]):
        return shown
    return Whole(known["at"], tuple(known["findings"]), known["status"])


def _shown_whole(state: GroupState) -> Whole | None:
    """Return a stored document's judgement from when everything was known."""
    held = state.get("held")
    if not state.get("complete") and held is None:
        return None
    at_ms = state["taken_at"] if held is None else held["as_of"]
    return Whole(at_ms, tuple(state["findings"]), state["status"])


def _said(earlier: GroupState) -> dict[str, int]:
    """Return since when the findings shown have held."""
    return {
        finding["key"]: finding["since"]
        for finding in earlier["findings"]
        if finding["since"] is not None
    }


def _newest_change(earlier: GroupState | None, known: Text | None) -> Text | None:
    shown = earlier["last_change"] if earlier else None
    if shown is None or known is None:
        return shown or known
    return max(shown, known, key=lambda change: change["at"])


def _shown_slots(state: GroupState) -> dict[str, int]:
    present = {member["client_id"]: member["slot"] for member in state["members"]}
    return {**state.get("past_slots", {}), **present}


def change_text(turn: EpochTurn) -> Text:
    """Return what to say about a new epoch: its cause, and the members concerned."""
    before = len(turn.ended.membership.members) if turn.ended else 0
    return {
        "at": turn.begun.began_by_ms,
        "text_key": turn.begun.cause,
        "params": {
            "joined": [label_of(client) for client in turn.joined[:LABELS_TOLD]],
            "joined_count": len(turn.joined),
            "left": [label_of(client) for client in turn.left[:LABELS_TOLD]],
            "left_count": len(turn.left),
            "members_before": before,
            "members": len(turn.begun.membership.members),
            "queues": len(turn.begun.membership.queues),
        },
    }
