"""The points of a sparkline: a line without axes, as wide as a word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

WIDTH: Final = 60
HEIGHT: Final = 16
_MARGIN: Final = 2
_GROUND: Final = HEIGHT - _MARGIN


def sparkline(points: Sequence[float | None]) -> list[str]:
    """Return the runs of known points as `points` of SVG polylines.

    Zero is the baseline, the largest value the top. A span without a value is a gap; a
    single point becomes a short stroke, so that it is visible.
    """
    top = max((value for value in points if value is not None), default=0.0) or 1.0
    room = HEIGHT - 2 * _MARGIN
    drawn = [
        "" if value is None else f"{x}{_GROUND - room * value / top:.1f}"
        for x, value in zip(_across(len(points)), points, strict=True)
    ]
    return [_stroke(list(run)) for known, run in groupby(drawn, bool) if known]


@lru_cache(maxsize=8)
def _across(points: int) -> list[str]:
    """Return where points lie from left to right, each up to its comma."""
    step = (WIDTH - 2 * _MARGIN) / max(1, points - 1)
    return [f"{_MARGIN + at * step:.1f}," for at in range(points)]


def _stroke(run: list[str]) -> str:
    if len(run) > 1:
        return " ".join(run)
    x, y = run[0].split(",")
    return f"{float(x) - 1:.1f},{y} {float(x) + 1:.1f},{y}"
