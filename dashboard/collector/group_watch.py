"""What the collector remembers of one group, from one sweep to the next.

`see` takes a group as a sweep saw it, in order of time, and returns what was concluded:
a `Sight` to show, the turn of an epoch and the handovers of queues to keep. Sweeps of
all groups do not ask members; while a group is watched, its last asked ownership
stands until it is asked again, unless members or queues changed: then nothing is
concluded about owners (`Seen.sight` is None) and the group has to be asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.findings import GroupMemory, Judge, Sighting, finding_document
from dashboard.live.documents import EpochMark, FindingState, GroupState, Text
from rmqcore.model.snapshot import BrokerSnapshot, GroupSnapshot

from .epochs import EpochBook, EpochTurn, Wish, membership_of
from .group_document import Sight, label_of
from .handovers import MOVED, Handover, Handovers
from .hues import Hues
from .ownership import Ownership, OwnershipTracker
from .rates import History
from .samples import Sampler

REPORT_STANDS_MS: Final = 15_000
"""How long members' reports count after the group was last asked."""

LABELS_TOLD: Final = 3


@dataclass(frozen=True, slots=True)
class Look:
    """One sweep's view of a group; `asked` when its members were asked (307).

    `wish` is there for groups that the fleet hosts. `dead_letters` counts all that ever
    came to the group's dead-letter topic.
    """

    cluster: str
    group: GroupSnapshot
    brokers: Collection[BrokerSnapshot]
    taken_at_ms: int
    asked: bool
    hosted: Collection[str] = ()
    wish: Wish | None = None
    dead_letters: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look led to; `sight` is None when the group must be asked first."""

    sight: Sight | None
    turn: EpochTurn | None = None
    handovers: tuple[Handover, ...] = ()


class GroupWatch:
    """One group's memory; see the module's head."""

    def __init__(self, book: EpochBook, earlier: GroupState | None = None) -> None:
        """Begin with the running epoch and what an earlier leader last showed."""
        self.book = book
        self.sampler = Sampler()
        self.shown: GroupState | None = None
        """The document of this run that readers have."""
        self.ownership: Ownership | None = None
        self.asked_at_ms: int | None = None
        self._last: GroupSnapshot | None = None
        self._taken_at_ms = 0
        self._tracker = OwnershipTracker()
        self._handovers = Handovers()
        self.book.owners = self._handovers.owners
        self._history = History()
        self._memory = GroupMemory()
        self._rules = Judge()
        self._joined: list[str] = []
        self._left: list[str] = []
        self._hues = Hues(_shown_slots(earlier) if earlier else {})
        self._last_change: Text | None = earlier["last_change"] if earlier else None

    @property
    def taken_at_ms(self) -> int:
        """When the newest look was taken; 0 before the first."""
        return self._taken_at_ms

    @property
    def unsettled(self) -> bool:
        """True while some queue has no confirmed single owner."""
        return self.ownership is None or any(
            row.source != "reported" or len(row.owners) != 1
            for row in self.ownership.rows
        )

    def see(self, look: Look) -> Seen:
        """Take one look; a look older than the last is ignored."""
        if look.taken_at_ms < self._taken_at_ms:
            return Seen(None)
        self._taken_at_ms = look.taken_at_ms
        turn = self._observe_epoch(look)
        if turn is not None and turn.ended is not None:
            self._joined += turn.joined
            self._left += turn.left
        self._history.add(look.taken_at_ms, look.group.queues)
        group = self._judge(look)
        if group is None or self.ownership is None:
            return Seen(None, turn)
        handovers = self._handovers.observe(
            group.queues.keys, self.ownership, look.taken_at_ms
        )
        findings = self._find(look, group, self.ownership, handovers)
        return Seen(self._sight(look, group, findings), turn, tuple(handovers))

    def _find(
        self,
        look: Look,
        group: GroupSnapshot,
        ownership: Ownership,
        handovers: Collection[Handover],
    ) -> list[FindingState]:
        """Ask the rules about what this look shows."""
        joined, self._joined = self._joined, []
        left, self._left = self._left, []
        evidence = self._memory.see(
            Sighting(
                at_ms=look.taken_at_ms,
                group=group,
                rows=ownership.rows,
                asked=look.asked,
                told=look.asked or self._reports_stand(look.taken_at_ms),
                joined=joined,
                left=left,
                moved=[each.key for each in handovers if each.kind == MOVED],
                dead_letters=look.dead_letters,
            )
        )
        judge = self._rules
        return [
            finding_document(finding, judge.since_ms(finding.key))
            for finding in judge.judge(evidence)
        ]

    def _judge(self, look: Look) -> GroupSnapshot | None:
        """Conclude who owns what; return the group to show, None when not known."""
        if look.asked:
            self.asked_at_ms = look.taken_at_ms
        elif self._reports_stand(look.taken_at_ms):
            return self._with_last_reports(look.group)
        elif self.ownership is not None and self._owned_alike(look.group):
            self._last = look.group
            return look.group
        self._last = look.group
        self.ownership = self._tracker.judge(look.group, look.taken_at_ms)
        return look.group

    def _reports_stand(self, now_ms: int) -> bool:
        return (
            self.asked_at_ms is not None
            and now_ms - self.asked_at_ms <= REPORT_STANDS_MS
        )

    def _owned_alike(self, group: GroupSnapshot) -> bool:
        """Say whether nothing that owners are inferred from differs from last time.

        Most groups are never asked and do not change; judging them anew each sweep
        would be half of its cost.
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
        """Return the last asked group with new numbers, if it is still the same."""
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

    def _observe_epoch(self, look: Look) -> EpochTurn | None:
        silent = {broker.name for broker in look.brokers if not broker.answered}
        membership = membership_of(look.group, look.wish)
        turn = self.book.observe(membership, silent, look.taken_at_ms)
        if turn is not None and turn.ended is not None:
            self._last_change = change_text(turn)
        return turn

    def _sight(
        self, look: Look, group: GroupSnapshot, findings: Sequence[FindingState]
    ) -> Sight:
        assert self.ownership is not None  # noqa: S101 - judged just before
        epoch = self.book.current
        mark: EpochMark | None = (
            {"number": epoch.number, "began_at": epoch.began_by_ms} if epoch else None
        )
        clients = [member.client_id for member in group.members]
        return Sight(
            cluster=look.cluster,
            group=group,
            brokers=look.brokers,
            ownership=self.ownership,
            rates=self._history.rates(),
            slots=self._hues.assign(clients, look.taken_at_ms),
            past_slots=self._hues.kept,
            moved_at_ms=self._handovers.moved_at_ms,
            hosted=look.hosted,
            managed=look.wish is not None,
            progressed_at_ms=self._history.progressed_at_ms,
            epoch=mark,
            last_change=self._last_change,
            taken_at_ms=look.taken_at_ms,
            findings=findings,
        )


def _shown_slots(state: GroupState) -> dict[str, int]:
    present = {member["client_id"]: member["slot"] for member in state["members"]}
    return {**state.get("past_slots", {}), **present}


def change_text(turn: EpochTurn) -> Text:
    """Return what to say of a new epoch: its cause, and whom it concerns."""
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
