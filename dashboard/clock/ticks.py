"""Ticks: the broadcasts of beat, and how a worker's roles receive them.

A tick names one slot of one timer (see `rmqcore.timers`). Roles register a
receiver when they start; a receiver only hands the tick to its own event loop, so the
worker's main thread is never held up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from rmqcore.timers import Slot, slot_at

SWEEP_WATCHED: Final = "sweep_watched"
SWEEP_ALL: Final = "sweep_all"

COLLECTOR_PERIOD_S: Final[Mapping[str, float]] = MappingProxyType(
    {SWEEP_WATCHED: 1.0, SWEEP_ALL: 10.0}
)
"""Seconds between two ticks of the collector's timers. The first is beat's pulse."""

START_REPORTS: Final = "start_reports"
START_REPORTS_PERIOD_S: Final = 10.0
"""Seconds between two looks at the schedules of reports."""

TICK_COMMAND: Final = "tick"
FALLBACK: Final = "worker"
"""The asker's name when a worker runs a slot whose tick did not come."""


@dataclass(frozen=True, slots=True)
class Tick(Slot):
    """One slot of one timer, and who asked for it."""

    asked_by: str


Receiver: TypeAlias = Callable[[Tick], None]

_receivers: list[Receiver] = []


def tick_at(timer: str, period: float, now: float, asked_by: str) -> Tick:
    """Return the tick of the slot that `now` lies in."""
    return asked(slot_at(timer, period, now), asked_by)


def asked(slot: Slot, asked_by: str) -> Tick:
    """Return the tick of a slot, asked for by `asked_by`."""
    return Tick(slot.timer, slot.number, slot.due, asked_by)


def add_receiver(receiver: Receiver) -> None:
    """Deliver every tick to a role from now on."""
    _receivers.append(receiver)


def remove_receiver(receiver: Receiver) -> None:
    """Deliver no more ticks to a role."""
    _receivers.remove(receiver)


def deliver(tick: Tick) -> None:
    """Hand a tick to every role of this process."""
    for receiver in tuple(_receivers):
        receiver(tick)
