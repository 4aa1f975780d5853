"""F5: how the queues of a topic are divided as members join and leave (A1, B1, B8).

Sixteen queues, one member, then two, then three, then fewer again; all of them
restarted in another order; then topics with fewer queues than members. Every member
computes its part on its own from the same sorted lists, so the division depends on
which members are there and not on which came first.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rmqcore.allocation import DEFAULT_STRATEGY, allocate_group

from .lab import Lab, check_range
from .member import Member, Role
from .results import Division, LabResult
from .stage import Stage

NAMES: Final = ("c1", "c2", "c3")
RESTARTED: Final = ("c3", "c1", "c2")


@dataclass(frozen=True, slots=True)
class Parameters:
    """How many queues the first topic has."""

    queues: int = 16

    def __post_init__(self) -> None:
        check_range("queues", self.queues, 3, 256)


class _Group:
    """One topic and the group that consumes it."""

    def __init__(self, stage: Stage, topic: str) -> None:
        self._stage = stage
        self._topic = topic
        self._members: dict[str, Member] = {}
        self.divisions: list[Division] = []

    async def join(self, name: str) -> Division:
        """Let a member join; return the division that follows."""
        await self._enter(name)
        return await self._rest(f"{name} joined")

    async def leave(self, name: str) -> Division:
        """Let a member leave; return the division that follows."""
        await self._stage.leave(self._members.pop(name))
        return await self._rest(f"{name} left")

    async def restart(self, names: tuple[str, ...]) -> Division:
        """Make all members leave, and these join in this order."""
        await self.disband()
        for name in names:
            await self._enter(name)
        return await self._rest("restarted")

    async def disband(self) -> None:
        """Make all members leave."""
        for name in list(self._members):
            await self._stage.leave(self._members.pop(name))

    async def _enter(self, name: str) -> None:
        group = f"{self._topic}_group"
        role = Role(name, group, {self._topic: "*"})
        self._members[name] = await self._stage.join(role)

    async def _rest(self, after: str) -> Division:
        members = [self._members[name] for name in sorted(self._members)]
        division = await self._stage.rest(self._topic, members, after)
        self.divisions.append(division)
        return division


def follows_rule(division: Division) -> bool:
    """Tell whether a division is the one that the rule prescribes."""
    plan = allocate_group(
        DEFAULT_STRATEGY,
        group=division.topic,
        queues=list(division.queues),
        client_ids=[part.client_id for part in division.parts],
    )
    return all(part.queues == plan.by_client[part.client_id] for part in division.parts)


async def play(stage: Stage, parameters: Parameters) -> LabResult:
    """Make members join, leave and restart, and check each division."""
    many = _Group(stage, await stage.topic(parameters.queues, "_many"))
    for name in NAMES:
        whole = await many.join(name)
    await many.leave("c3")
    await many.leave("c2")
    restarted = await many.restart(RESTARTED)
    await many.disband()

    two = _Group(stage, await stage.topic(2, "_two"))
    for name in NAMES:
        of_two = await two.join(name)
    await two.disband()

    one = _Group(stage, await stage.topic(1, "_one"))
    for name in NAMES[:2]:
        of_one = await one.join(name)
    await one.disband()

    divisions = many.divisions + two.divisions + one.divisions
    stage.claim("rule", all(map(follows_rule, divisions)), count=len(divisions))
    stage.claim("one_owner", not any(d.unowned or d.shared for d in divisions))
    stage.claim("restart", restarted.parts == whole.parts, order=", ".join(RESTARTED))
    stage.claim("idle", of_two.idle == ["c3"] and of_one.idle == ["c2"])
    return LabResult(evidence=stage.evidence(), finding="idle_members")


LAB: Final = Lab(
    "F5",
    "How queues are divided as members join and leave",
    ("A1", "B1", "B8"),
    MappingProxyType(
        {
            "rule": "All {count} divisions are contiguous blocks; where they cannot "
            "be equal, the first members take one queue more (AVG).",
            "one_owner": "After each join and leave every queue has exactly one owner.",
            "restart": "Restarted in the order {order}, members hold what they held "
            "before: client ids are sorted before dividing.",
            "idle": "With more members than queues, the last members hold none.",
        }
    ),
    Parameters,
    play,
)
