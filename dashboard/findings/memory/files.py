"""Broadcasting members whose offsets file is gone or fell back to an older one.

The file lies on the member's host, and no broker knows of it. But each member says how
far it has come on each queue (307). A member that comes back without a place where it
had one has lost its file and starts at the tail; one that comes back behind its place
has taken the backup, or an older copy. A member with the same instance name on another
address, replacing one that is gone, has moved to a host without the file (behaviour
A6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import MemberSnapshot

REMEMBERED_MS: Final = 3_600_000
TOLD_MS: Final = 900_000
"""How long a loss is reported: it is over when seen, and cannot be undone."""

Offsets = Mapping[QueueKey, int | None]


@dataclass(frozen=True, slots=True)
class FileLoss:
    """One member without its place; `messages` counts repeats, or losses at most."""

    client_id: str
    kind: Literal["lost", "older", "moved"]
    queues: tuple[QueueKey, ...]
    messages: int | None
    at_ms: int
    before: str | None = None


@dataclass(slots=True)
class _Place:
    """A member's last report, its time, and when the member had started."""

    offsets: dict[QueueKey, int]
    started_ms: int | None
    seen_ms: int
    here: bool = True


class FileWatch:
    """Remembers the places of one group's members."""

    __slots__ = ("_losses", "_places")

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._losses: list[FileLoss] = []

    @classmethod
    def restored(cls, dumped: Mapping[str, Any]) -> FileWatch:
        """Continue from what `dump` returned."""
        watch = cls()
        for client, (offsets, *rest) in dumped.get("places", {}).items():
            watch._places[client] = _Place(
                {_key(key): offset for key, offset in offsets}, *rest
            )
        for client, kind, queues, *rest in dumped.get("losses", ()):
            watch._losses.append(
                FileLoss(client, kind, tuple(map(_key, queues)), *rest)
            )
        return watch

    def dump(self) -> dict[str, Any]:
        """Return places and losses as plain values; empty when there are none."""
        found: dict[str, Any] = {
            "places": {
                client: [
                    list(place.offsets.items()),
                    place.started_ms,
                    place.seen_ms,
                    place.here,
                ]
                for client, place in self._places.items()
            },
            "losses": [
                [
                    loss.client_id,
                    loss.kind,
                    loss.queues,
                    loss.messages,
                    loss.at_ms,
                    loss.before,
                ]
                for loss in self._losses
            ],
        }
        return {name: value for name, value in found.items() if value}

    @property
    def rests(self) -> bool:
        """Whether nothing is remembered of any member."""
        return not self._places and not self._losses

    def take(
        self,
        members: Iterable[MemberSnapshot],
        ends: Mapping[QueueKey, int | None],
        at_ms: int,
    ) -> None:
        """Record a look at members that were asked; `ends` are the queues' maxima."""
        present = {member.client_id for member in members}
        for client, place in self._places.items():
            place.here = place.here and client in present
        for member in members:
            if member.queues is not None:
                self._take_member(member, present, ends, at_ms)
        self._places = {
            client: place
            for client, place in self._places.items()
            if at_ms - place.seen_ms <= REMEMBERED_MS
        }

    def losses(self, at_ms: int) -> list[FileLoss]:
        """Return the losses of the last minutes, oldest first."""
        self._losses = [each for each in self._losses if at_ms - each.at_ms <= TOLD_MS]
        return list(self._losses)

    def _take_member(
        self,
        member: MemberSnapshot,
        present: set[str],
        ends: Mapping[QueueKey, int | None],
        at_ms: int,
    ) -> None:
        said: Offsets = {key: held.committed for key, held in member.held.items()}
        if not said:
            # It has just joined, without queues yet: its places on them are not known.
            return
        client = member.client_id
        known = {key: offset for key, offset in said.items() if offset is not None}
        place = self._places.get(client)
        if place is None:
            self._moved(client, said, present, ends, at_ms)
        elif not place.here or place.started_ms != member.started_at_ms:
            self._back(client, place.offsets, said, ends, at_ms)
        else:
            known = {**place.offsets, **known}
        self._places[client] = _Place(known, member.started_at_ms, at_ms)

    def _back(
        self,
        client: str,
        before: Mapping[QueueKey, int],
        now: Offsets,
        ends: Mapping[QueueKey, int | None],
        at_ms: int,
    ) -> None:
        without = [key for key in before if key in now and now[key] is None]
        if without:
            missed = _missed(before, without, ends)
            self._add(FileLoss(client, "lost", tuple(without), missed, at_ms))
            return
        behind = {
            key: offset - after
            for key, offset in before.items()
            if (after := now.get(key)) is not None and after < offset
        }
        if behind:
            repeats = sum(behind.values())
            self._add(FileLoss(client, "older", tuple(behind), repeats, at_ms))

    def _moved(
        self,
        client: str,
        now: Offsets,
        present: set[str],
        ends: Mapping[QueueKey, int | None],
        at_ms: int,
    ) -> None:
        if not now or any(offset is not None for offset in now.values()):
            return
        _address, _at, instance = client.partition("@")
        for other, place in self._places.items():
            gone = not place.here and other not in present
            if gone and place.offsets and other.partition("@")[2] == instance:
                queues = tuple(key for key in place.offsets if key in now)
                missed = _missed(place.offsets, queues, ends)
                self._add(FileLoss(client, "moved", queues, missed, at_ms, other))
                place.offsets = {}
                return

    def _add(self, loss: FileLoss) -> None:
        if loss.queues:
            self._losses.append(loss)


def _missed(
    before: Mapping[QueueKey, int],
    queues: Iterable[QueueKey],
    ends: Mapping[QueueKey, int | None],
) -> int | None:
    """Return the messages since then, all lost to a member that starts at the tail."""
    missed = 0
    for key in queues:
        end = ends.get(key)
        if end is None:
            return None
        missed += max(0, end - before[key])
    return missed


def _key(plain: Iterable[Any]) -> QueueKey:
    topic, broker, queue_id = plain
    return topic, broker, queue_id
