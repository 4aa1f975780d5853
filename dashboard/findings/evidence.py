"""What rules look at: a group now, a short past of it, and what was remembered.

Nothing here judges. Members' own word (307) is only asked every so often; `told` says
whether it is fresh, and without it `members` say nothing of themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import GroupKind, GroupSnapshot, MemberSnapshot
from rmqcore.model.subscription import ConsumeType

from .memory.files import FileLoss
from .memory.growth import Growth
from .memory.since import Since
from .memory.trail import Trail


class OwnerRow(Protocol):
    """What may be claimed of one queue's owners: see `collector.ownership`."""

    @property
    def owners(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str | None: ...

    @property
    def expected(self) -> str | None: ...

    @property
    def wrong(self) -> str | None: ...

    @property
    def since_ms(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything known of one group at `at_ms`; `rows` follow the queue table.

    `last_owners`: who last reported each queue alone. `stays` are members that joined
    and left again soon, `moves` how often each queue changed hands while nobody came
    or went, both within the window of `memory.turnover`. `online_ms`: when a member
    was last seen, None if never. `read_topics` are those that members read when they
    were last seen, None if that is not known.
    """

    at_ms: int
    group: GroupSnapshot
    rows: Sequence[OwnerRow]
    told: bool
    trail: Trail
    since: Since
    last_owners: Mapping[QueueKey, str] = field(default_factory=dict)
    stays: Sequence[str] = ()
    moves: Mapping[QueueKey, int] = field(default_factory=dict)
    dead_letters: Growth = field(default_factory=Growth)
    file_losses: Sequence[FileLoss] = ()
    online_ms: int | None = None
    read_topics: frozenset[str] | None = None

    @property
    def unread(self) -> frozenset[QueueKey]:
        """The queues of topics that members gave up: their commits rest for good."""
        if self.read_topics is None:
            return frozenset()
        read = self.read_topics
        return frozenset(key for key in self.group.queues.keys if key[0] not in read)

    @property
    def owned(self) -> bool:
        """True where each queue is meant to have one owner."""
        return self.group.kind is GroupKind.OWNED

    @property
    def commits_tell(self) -> bool:
        """True where progress can be told from the commits at the broker.

        Pull consumers seek, and may keep their progress elsewhere; broadcasting
        members always do.
        """
        pulls = self.group.consume_type is ConsumeType.PULL
        kinds = (GroupKind.OWNED, GroupKind.SHARED_POP)
        return self.group.kind in kinds and not pulls

    @property
    def orderly(self) -> bool:
        """True when some member says that it consumes orderly."""
        return any(member.orderly for member in self.group.members)

    def told_members(self) -> Iterator[MemberSnapshot]:
        """Yield the members that said something of themselves, each id once."""
        seen: set[str] = set()
        for member in self.group.members:
            if member.subscriptions is not None and member.client_id not in seen:
                seen.add(member.client_id)
                yield member

    def rows_that(self, wrong: str) -> list[int]:
        """Return the rows known to be "unowned" or "double"."""
        return [row for row, owners in enumerate(self.rows) if owners.wrong == wrong]

    def keys_of(self, rows: Sequence[int]) -> tuple[QueueKey, ...]:
        """Return the queues of some rows."""
        keys = self.group.queues.keys
        return tuple(keys[row] for row in rows)
