"""The transition between two divisions, while some members already use the new one.

Members switch one after another. Until all have, a queue may be held by the member that
has it now and by the one that gets it, or by neither. How many queues these are follows
from the two divisions alone; how long it lasts depends on whoever switches the members.

Pure. Cost: linear in queues plus members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rmqcore.model import sorted_client_ids

from .rows import Figures


@dataclass(frozen=True, slots=True)
class Stage:
    """Queues held by several and by nobody after `switched` members have switched."""

    switched: int
    twice: int
    nobody: int


@dataclass(frozen=True, slots=True)
class Mixing:
    """All stages between two divisions, without the beginning and the end."""

    stages: tuple[Stage, ...]

    @property
    def most_twice(self) -> int:
        """Queues held by several members at the worst moment."""
        return max((stage.twice for stage in self.stages), default=0)

    @property
    def most_nobody(self) -> int:
        """Queues held by nobody at the worst moment."""
        return max((stage.nobody for stage in self.stages), default=0)


def mixing(figures: Figures) -> Mixing:
    """Return the stages from the present division to that of `figures`.

    Members switch in RocketMQ's order, as in a roll-out from the first to the last.
    Queues that are new are left out, as nobody can have them yet, and so are those
    whose present owners are not known.
    """
    present = figures.columns.present
    held = [
        -1 if owners is None or at in figures.unheard else len(owners)
        for at, owners in enumerate(present)
    ]
    loses = _by_member([owners or () for owners in present], held)
    gains = _by_member(figures.owners, held)
    twice = sum(count > 1 for count in held)
    nobody = sum(count == 0 for count in held)
    stages: list[Stage] = []
    members = sorted_client_ids({*loses, *gains})
    for switched, member in enumerate(members, start=1):
        for change, positions in ((-1, loses.get(member)), (1, gains.get(member))):
            for at in positions or ():
                was, held[at] = held[at], held[at] + change
                twice += (held[at] > 1) - (was > 1)
                nobody += (held[at] == 0) - (was == 0)
        stages.append(Stage(switched, twice, nobody))
    return Mixing(tuple(stages[:-1]))


def _by_member(
    owners: Sequence[Sequence[str]], held: Sequence[int]
) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for at, holders in enumerate(owners):
        if held[at] < 0:
            continue
        for member in holders:
            positions.setdefault(member, []).append(at)
    return positions
