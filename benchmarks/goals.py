"""Goals of figures: every benchmark prints what it reached in the same kind of line.

`python -m benchmarks` collects these lines from all benchmarks into one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MARK: Final = "goal |"


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit for a figure; the largest value that is still good, or the least."""

    what: str
    limit: float
    unit: str
    at_least: bool = False

    def met(self, value: float) -> bool:
        """Tell whether a measured value reaches the goal."""
        return value >= self.limit if self.at_least else value <= self.limit

    def line(self, value: float) -> str:
        """Return the line to print: figure, value, goal, and whether it was met."""
        bound = "at least" if self.at_least else "at most"
        verdict = "met" if self.met(value) else "MISSED"
        return (
            f"{MARK} {self.what} | {value:,.4g} {self.unit} "
            f"| {bound} {self.limit:,.4g} {self.unit} | {verdict}"
        )


def cells_of(line: str) -> list[str] | None:
    """Return the cells of a line that `Goal.line` made, None for any other line."""
    if not line.startswith(MARK):
        return None
    return [cell.strip() for cell in line.removeprefix(MARK).split("|")]
