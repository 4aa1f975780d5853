"""Rules that tell the machine rooms of brokers and clients: by name, else by prefix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rmqcore.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class RoomRule:
    """The rooms of names: those listed in `named`, else the text before `separator`.

    Without a separator, or if a name does not contain it, there is no room.
    """

    separator: str = ""
    named: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name, room in self.named:
            if not name or not room:
                raise ArgumentError(
                    f"a room needs a name and a room, got {name!r} in {room!r}"
                )

    def __bool__(self) -> bool:
        return bool(self.separator or self.named)

    def rooms_of(self, names: Iterable[str]) -> dict[str, str]:
        """Return the rooms of those names that have one."""
        listed = dict(self.named)
        rooms = {}
        for name in dict.fromkeys(names):
            room = listed.get(name) or self._before_separator(name)
            if room:
                rooms[name] = room
        return rooms

    def _before_separator(self, name: str) -> str:
        if not self.separator:
            return ""
        before, found, _ = name.partition(self.separator)
        return before if found else ""
