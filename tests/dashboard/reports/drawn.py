"""What a figure draws, read back from its traces: steps with a value, and hatches."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple


class Stroke(NamedTuple):
    """A piece of a line: from where to where it goes, and its values on the way."""

    since: datetime
    until: datetime
    values: dict[str, float]


class Hatch(NamedTuple):
    """A hatched box: when, over which part of the axis of values, and what it says."""

    since: datetime
    until: datetime
    low: float
    high: float
    name: str
    text: str


def strokes(trace: Mapping[str, Any]) -> list[Stroke]:
    """Return the pieces of a line; the last point of each only ends it."""
    pieces: list[list[tuple[str, float]]] = [[]]
    for x, y in zip(trace["x"], trace["y"], strict=True):
        if y is None:
            pieces.append([])
        else:
            pieces[-1].append((x, y))
    return [
        Stroke(moment(piece[0][0]), moment(piece[-1][0]), dict(piece[:-1]))
        for piece in pieces
        if piece
    ]


def values(trace: Mapping[str, Any]) -> dict[str, float]:
    """Return the values of a line by the begin of their steps, as they are drawn."""
    return {x: y for stroke in strokes(trace) for x, y in stroke.values.items()}


def hatched(figure: Mapping[str, Any], axis: str = "y") -> list[Hatch]:
    """Return the hatches over an axis of values, in order of time."""
    found = []
    for trace in figure["data"]:
        if "pattern" not in trace.get("marker", {}) or trace.get("yaxis", "y") != axis:
            continue
        boxes = zip(
            *(trace[key] for key in ("x", "width", "base", "y", "customdata")),
            strict=True,
        )
        for x, width, base, height, text in boxes:
            until = moment(x) + timedelta(milliseconds=width)
            box = (base, base + height)
            found.append(Hatch(moment(x), until, *box, trace["name"], text))
    return sorted(found)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
