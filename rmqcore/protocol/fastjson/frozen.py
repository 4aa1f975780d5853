"""A JSON object that can be a key of another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class FrozenObject(Mapping[str, Any]):
    """An immutable, hashable mapping; equal members make it equal, in any order.

    Objects inside are frozen too, lists become tuples.
    """

    __slots__ = ("_hash", "_members")

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = {name: _freeze(value) for name, value in members.items()}
        self._hash = hash(frozenset(self._members.items()))

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenObject):
            return self._members == other._members
        return NotImplemented

    def __repr__(self) -> str:
        return f"FrozenObject({self._members!r})"


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return FrozenObject(value)
    if isinstance(value, list):
        return tuple(map(_freeze, value))
    return value
