"""The catalogue of labs and their parameters; loads `rmqcore.labs` on first use.

The web process reads it for its pages, and plays no labs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

from rmqcore.errors import ArgumentError

if TYPE_CHECKING:
    from rmqcore.labs import Lab


@dataclass(frozen=True, slots=True)
class LabEntry:
    """One lab: its texts are keys of `dashboard.labs.words`; parameters by name."""

    name: str
    title: str
    rules: tuple[str, ...]
    parameters: Mapping[str, int]


@lru_cache(maxsize=1)
def entries() -> tuple[LabEntry, ...]:
    """Return every lab in the order in which to watch them."""
    from rmqcore.labs import LABS

    return tuple(_entry(lab) for lab in LABS.values())


def entry_named(name: str) -> LabEntry:
    """Return one lab; for an unknown name, raise ArgumentError that lists the labs."""
    return _entry(_lab(name))


def text_of(lab: str, key: str) -> str:
    """Return the English sentence of a step or claim; ArgumentError when unknown."""
    from rmqcore.labs.steps import EVERYWHERE

    own = _lab(lab).texts
    name = key.removeprefix(f"{lab}.")
    text = own.get(name) if name != key else EVERYWHERE.get(key)
    if text is None:
        raise ArgumentError(f"lab {lab} has no text {key!r}")
    return text


def check_parameters(lab: str, given: Mapping[str, int], linger_s: float) -> None:
    """Raise ArgumentError for what the lab would refuse, with the lab's message."""
    from rmqcore.labs.lab import check_linger

    _lab(lab).parameters_of(given)
    check_linger(linger_s)


def _lab(name: str) -> Lab:
    from rmqcore.labs import lab_named

    return lab_named(name)


def _entry(lab: Lab) -> LabEntry:
    defaults = lab.parameters()
    return LabEntry(
        lab.name,
        lab.title,
        lab.rules,
        {field.name: getattr(defaults, field.name) for field in fields(defaults)},
    )
