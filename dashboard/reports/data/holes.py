"""The steps without a value, and how they are shown: one rule for every output.

A figure has a value in a step if all the values that it sums up are known. Every other
step is a *hole*: its span is hatched, a word says what is missing, and no line crosses
it. So each step of a period is either drawn or hatched, exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.reports.request.axis import Axis
from dashboard.wording import numbers

from .values import LagStep, Part, QueueRow


class Lack(Enum):
    """Why a step has no value."""

    NOTHING = "nothing"
    """Nothing was collected."""
    PART = "part"
    """It is known for some queues, not for all."""
    VALUE = "value"
    """Something was collected, but not what this figure shows."""


_WORDS: Final[Mapping[Lack, Promise]] = {
    Lack.NOTHING: gettext_lazy("not collected"),
    Lack.PART: gettext_lazy("partly unknown"),
    Lack.VALUE: gettext_lazy("not known"),
}

Lacking = tuple[Lack, str]
"""Why a step has no value, and the same in words."""

Path = Sequence[tuple[datetime, datetime | None]]
"""Points of a line: a moment, and the step whose value it has then; None breaks it."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A span, its end not included, in which there is no value for one reason."""

    since: datetime
    until: datetime
    lack: Lack
    text: str


def lack_word(lack: Lack) -> str:
    """Return the name of a kind of hole in legends."""
    return str(_WORDS[lack])


def find_holes(axis: Axis, lacking: Callable[[datetime], Lacking | None]) -> list[Hole]:
    """Return the holes of a period in order; steps with the same lack are joined."""
    found: list[Hole] = []
    for at in axis.steps():
        lack = lacking(at)
        if lack is None:
            continue
        end = axis.end_of(at)
        if found and (found[-1].until, (found[-1].lack, found[-1].text)) == (at, lack):
            found[-1] = Hole(found[-1].since, end, *lack)
        else:
            found.append(Hole(at, end, *lack))
    return found


def spans_of(holes: Iterable[Hole], lack: Lack) -> list[timedelta]:
    """Return how long each span of a kind is, ignoring the details of its steps."""
    spans: list[timedelta] = []
    until: datetime | None = None
    for hole in holes:
        if hole.lack is not lack:
            continue
        if hole.since == until:
            spans[-1] += hole.until - hole.since
        else:
            spans.append(hole.until - hole.since)
        until = hole.until
    return spans


def path_of(axis: Axis, values: Mapping[datetime, float | None]) -> Path:
    """Return the path of a line with these values.

    It reaches the end of its last step, so that a step between two holes is visible.
    """
    path: list[tuple[datetime, datetime | None]] = []
    last: datetime | None = None
    for at in axis.steps():
        if values.get(at) is not None:
            path.append((at, at))
            last = at
        elif last is not None:
            path += [(at, last), (at, None)]
            last = None
    if last is not None:
        path.append((axis.until, last))
    return path


def lag_lack(step: LagStep | None) -> Lacking | None:
    """Return why the lag of a step is not drawn; None where it is."""
    if step is not None and step.lag is not None:
        return None
    if step is not None and not step.queues:
        return Lack.VALUE, _("no queues")
    if step is None or not step.is_part or step.seen.mean is None:
        return Lack.NOTHING, _("not collected")
    return Lack.PART, part_text(step.part(step.seen.mean), numbers.count)


def age_lack(step: LagStep | None) -> Lacking | None:
    """Return why the age of a step's oldest message is not drawn; None where it is."""
    if step is not None and step.age_ms is not None:
        return None
    lack = lag_lack(step)
    if step is None or lack is None:
        return lack or (Lack.VALUE, _("age was not asked"))
    if lack[0] is Lack.PART:
        return Lack.PART, part_text(step.part(step.seen.age_ms), numbers.duration)
    return lack


def cell_lack(row: QueueRow, at: datetime) -> Lacking | None:
    """Return why a cell of a heatmap has no colour; None where it has one."""
    if row.values.get(at) is not None:
        return None
    if part := row.parts.get(at):
        return Lack.PART, part_text(part, numbers.count)
    if at in row.without_queues:
        return Lack.VALUE, _("no queues")
    return Lack.NOTHING, _("not collected")


def known_steps(values: Mapping[datetime, float | None]) -> frozenset[datetime]:
    """Return the steps in which a line has a value."""
    return frozenset(at for at, value in values.items() if value is not None)


def load_lack(
    at: datetime, lines: Sequence[Collection[datetime]], known: Mapping[datetime, Part]
) -> Lacking | None:
    """Say why none of several lines has a value; `lines` are the steps that each has.

    `known` says by step for how many queues the rates are known. Loads need those of
    all queues: an even share of half of the load says nothing about the other half.
    """
    if any(at in line for line in lines):
        return None
    part = known.get(at)
    if part is None or not part.known:
        return Lack.NOTHING, _("not collected")
    if part.is_part:
        return Lack.PART, part_text(part, numbers.count)
    return Lack.VALUE, _("not known")


def part_text(part: Part, write: Callable[[float], str]) -> str:
    """Say for how many queues a value is known, and its lower bound."""
    words = {"known": part.known, "all": part.queues}
    if part.at_least is None:
        return _("partly unknown: only %(known)s of %(all)s queues are known") % words
    return _("partly unknown: ≥ %(value)s, from %(known)s of %(all)s queues") % {
        "value": write(part.at_least),
        **words,
    }
