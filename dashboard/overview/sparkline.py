"""The points of a sparkline: a line without axes, as wide as a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

WIDTH: Final = 60
HEIGHT: Final = 16
_MARGIN: Final = 2


def sparkline(points: Sequence[float | None]) -> list[str]:
    """Return the runs of known points as `points` of SVG polylines.

    Zero is the baseline, the largest value the top. A span without a value is a gap; a
    single point becomes a short stroke, so that it is visible.
    """
    top = max((value for value in points if value is not None), default=0.0)
    step = (WIDTH - 2 * _MARGIN) / max(1, len(points) - 1)
    room = HEIGHT - 2 * _MARGIN
    runs: list[list[str]] = [[]]
    for at, value in enumerate(points):
        if value is None:
            runs.append([])
            continue
        x = _MARGIN + at * step
        y = HEIGHT - _MARGIN - (room * value / top if top else 0)
        runs[-1].append(f"{x:.1f},{y:.1f}")
    return [_stroke(run) for run in runs if run]


def _stroke(run: list[str]) -> str:
    if len(run) > 1:
        return " ".join(run)
    x, y = run[0].split(",")
    return f"{float(x) - 1:.1f},{y} {float(x) + 1:.1f},{y}"
