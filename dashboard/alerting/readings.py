"""Reads a rule's figure from a look: a value, or that it is not known.

A value that leaves something out is marked as a part, and `Threshold` decides whether
the part tells enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from analytics.holding import Reading
from dashboard.findings.finding import WORST_FIRST

from .kinds import LEVELS, Kind
from .looks import BrokerLook, GroupLook
from .movement import Movement
from .rules import Rule

AWAY: Final = frozenset({"silent", "missing", "slave"})
"""A slave that answers for its master serves reads only."""


class Read(NamedTuple):
    """What a rule read: the reading, and the value it comes from, if it has one."""

    reading: Reading
    value: float | None = None
    partial: bool = False


class _Value(NamedTuple):
    """A figure; `seen` is False if the time that it is about was not watched in full.

    Such a figure may begin an alert, and does not end one.
    """

    value: float | None
    partial: bool = False
    seen: bool = True


def read_group(rule: Rule, look: GroupLook, movement: Movement) -> Read:
    """Return what a rule reads of a group."""
    if rule.kind == Kind.FINDING:
        return _finding(rule, look)
    found = _VALUES[rule.kind](rule, look, movement)
    assert rule.threshold is not None  # noqa: S101 - checked when it is saved
    reading = rule.threshold.read(found.value, partial=found.partial)
    if reading is Reading.CLEAR and not found.seen:
        reading = Reading.BETWEEN
    return Read(reading, found.value, found.partial)


def read_broker(rule: Rule, look: BrokerLook) -> Read:
    """Return what a rule reads of a broker: for how long (ms) it has been away."""
    away_ms = 0
    if look.condition in AWAY and look.since_ms is not None:
        away_ms = max(1, look.at_ms - look.since_ms)
    assert rule.threshold is not None  # noqa: S101 - checked when it is saved
    return Read(rule.threshold.read(away_ms), away_ms)


def _finding(rule: Rule, look: GroupLook) -> Read:
    wanted = frozenset(rule.finding.split())
    levels = (
        frozenset(WORST_FIRST[: WORST_FIRST.index(rule.finding) + 1])
        if (rule.finding in LEVELS)
        else frozenset()
    )
    found = [
        each
        for each in look.findings
        if each["key"] in wanted or each["level"] in levels
    ]
    if any(each.get("as_of") is None for each in found):
        return Read(Reading.HOLDS)
    unchecked = (
        {each["key"] for each in look.rules["unchecked"]} if look.rules else set()
    )
    if found or look.rules is None or (unchecked if levels else unchecked & wanted):
        return Read(Reading.UNKNOWN)
    return Read(Reading.CLEAR)


def _lag(_rule: Rule, look: GroupLook, _movement: Movement) -> _Value:
    return _Value(look.row["lag"], look.row["lag_partial"])


def _oldest(_rule: Rule, look: GroupLook, _movement: Movement) -> _Value:
    row = look.row
    if row["lag"] == 0 and not row["lag_partial"]:
        return _Value(0)
    return _Value(row["oldest_ms"], row.get("oldest_partial", False))


def _drain(_rule: Rule, look: GroupLook, _movement: Movement) -> _Value:
    """Return how long (ms) it takes until nothing waits; infinite if it grows."""
    row = look.row
    if row["lag"] == 0 and not row["lag_partial"]:
        return _Value(0)
    lag, rate_in, rate_out = row["lag"], row["rate_in"], row["rate_out"]
    if lag is None or rate_in is None or rate_out is None or row.get("rate_partial"):
        return _Value(None)
    gain = rate_out - rate_in
    return _Value(lag / gain * 1000 if gain > 0 else math.inf, row["lag_partial"])


def _in_stops(_rule: Rule, look: GroupLook, movement: Movement) -> _Value:
    value = movement.take_arrivals(look.table, look.at_ms)
    return _Value(value, seen=movement.arrived)


def _out_stops(_rule: Rule, look: GroupLook, movement: Movement) -> _Value:
    movement.take_commits(look.table, look.at_ms)
    value = max(movement.still.values(), default=0)
    return _Value(value, movement.loose, seen=not movement.unseen)


def _members(_rule: Rule, look: GroupLook, _movement: Movement) -> _Value:
    return _Value(look.row["members"], not look.row.get("complete", True))


def _skew(_rule: Rule, look: GroupLook, _movement: Movement) -> _Value:
    row = look.row
    if row["lag"] == 0 and not row["lag_partial"]:
        return _Value(0)
    return _Value(row["skew"])


def _dead_letters(rule: Rule, look: GroupLook, movement: Movement) -> _Value:
    movement.take_letters(look.dead_letters, look.at_ms)
    from_ms = look.at_ms - rule.within_ms
    value = movement.letters_since(from_ms)
    return _Value(value, seen=movement.letters_seen(from_ms))


_VALUES: Final[Mapping[str, Callable[[Rule, GroupLook, Movement], _Value]]] = {
    Kind.LAG: _lag,
    Kind.OLDEST: _oldest,
    Kind.DRAIN: _drain,
    Kind.IN_STOPS: _in_stops,
    Kind.OUT_STOPS: _out_stops,
    Kind.MEMBERS: _members,
    Kind.SKEW: _skew,
    Kind.DEAD_LETTERS: _dead_letters,
}
