"""Measures how much a number that only grows has grown within the last hour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

WINDOW_MS: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth seen within the window, its first and last time, and the total."""

    grown: int = 0
    total: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None


class GrowthMeter:
    """Adds up growth; a total seen for the first time is not growth."""

    __slots__ = ("_steps", "_total")

    def __init__(self) -> None:
        self._total: int | None = None
        # A list: an empty deque takes ten times as much, and most have no steps.
        self._steps: list[tuple[int, int]] = []

    @classmethod
    def restored(cls, dumped: Mapping[str, Any]) -> GrowthMeter:
        """Continue from what `dump` returned."""
        meter = cls()
        meter._total = dumped.get("total")
        meter._steps.extend((at_ms, grown) for at_ms, grown in dumped.get("steps", ()))
        return meter

    def dump(self) -> dict[str, Any]:
        """Return total and steps as plain values; empty when nothing is known."""
        if self._total is None:
            return {}
        steps = {"steps": list(self._steps)} if self._steps else {}
        return {"total": self._total, **steps}

    @property
    def rests(self) -> bool:
        """Whether nothing has grown within the window."""
        return not self._steps

    def take(self, total: int | None, at_ms: int, *, anew: bool = False) -> Growth:
        """Take the total as seen now, None when unknown; return the growth.

        A total that is `anew`, from other brokers than before, has not grown.
        """
        if anew:
            self._total = None
        if total is not None:
            if self._total is not None and total > self._total:
                self._steps.append((at_ms, total - self._total))
            self._total = total
        while self._steps and at_ms - self._steps[0][0] > WINDOW_MS:
            del self._steps[0]
        if not self._steps:
            return Growth(total=self._total)
        grown = sum(step for _at, step in self._steps)
        return Growth(grown, self._total, self._steps[0][0], self._steps[-1][0])
