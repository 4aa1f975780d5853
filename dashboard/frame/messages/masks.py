"""Masks: which fields of a message are not shown, whoever looks.

A rule is a name, which masks every field of that name at any depth, or a path of names
from the top, separated by dots; `*` stands for any one name or place in a list. Names
are compared without regard to case. A masked field keeps its name and loses its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rmqcore.model import MessageExt

MASKED: Final = "•••"
ANY: Final = "*"
DEEPEST: Final = 200
"""Deeper values are left out as a whole: nothing may escape a mask by its depth."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A value without its masked parts, and the rules that applied."""

    value: Any
    rules: tuple[str, ...]


class Masks:
    """The rules of the settings."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._names: dict[str, str] = {}
        self._paths: dict[tuple[str, ...], str] = {}
        for rule in rules:
            parts = tuple(rule.casefold().removeprefix("$.").split("."))
            if len(parts) == 1:
                self._names[parts[0]] = rule
            else:
                self._paths[parts] = rule

    def __bool__(self) -> bool:
        return bool(self._names or self._paths)

    def apply(self, value: Any) -> Masked:
        """Return a JSON value without its masked parts."""
        applied: set[str] = set()
        shown = self._shown(value, (), applied)
        return Masked(shown, tuple(sorted(applied)))

    def properties(self, properties: Mapping[str, str]) -> Masked:
        """Return the properties of a message without the masked ones."""
        return self.apply(dict(properties))

    def _shown(self, value: Any, path: tuple[str, ...], applied: set[str]) -> Any:
        if len(path) > DEEPEST:
            return MASKED
        if isinstance(value, Mapping):
            return {
                name: self._field(item, (*path, str(name).casefold()), applied)
                for name, item in value.items()
            }
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return [
                self._field(item, (*path, str(at)), applied)
                for at, item in enumerate(value)
            ]
        return value

    def _field(self, value: Any, path: tuple[str, ...], applied: set[str]) -> Any:
        rule = self._rule(path)
        if rule is None:
            return self._shown(value, path, applied)
        applied.add(rule)
        return MASKED

    def _rule(self, path: tuple[str, ...]) -> str | None:
        by_name = self._names.get(path[-1])
        if by_name is not None:
            return by_name
        for wanted, rule in self._paths.items():
            if len(wanted) == len(path) and all(
                part in (ANY, given) for part, given in zip(wanted, path, strict=True)
            ):
                return rule
        return None


def shown_properties(message: MessageExt, masks: Masks) -> dict[str, str]:
    """Return a message's properties without those that are masked."""
    return dict(masks.properties(message.properties).value)
