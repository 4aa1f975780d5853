"""Contents of the pages of labs: each lab with its last run, and one run in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from dashboard.models import Cluster, LabRun

from .catalogue import LabEntry, entries, entry_named
from .divided import Divided, divided
from .drawings import THEMES, Drawing, drawing_of
from .words import (
    EXPLANATIONS,
    FINDINGS,
    PARAMETERS,
    TAKES,
    sentence,
)


@dataclass(frozen=True, slots=True)
class Field:
    """One number that a lab takes."""

    name: str
    label: str
    default: int


@dataclass(frozen=True, slots=True)
class LabRow:
    """One lab on the list, with its newest run, if any."""

    name: str
    title: str
    rules: tuple[str, ...]
    explanation: str
    takes: str
    fields: tuple[Field, ...]
    run: LabRun | None
    lost: bool
    drawing: Drawing

    @property
    def seen(self) -> tuple[int, int]:
        """How many sentences its newest run confirmed, and how many it was to."""
        claims: list[dict[str, Any]] = self.run.claims if self.run else []
        return sum(bool(each["seen"]) for each in claims), len(claims)


@dataclass(frozen=True, slots=True)
class Theme:
    """Labs about the same thing, in the order in which to watch them."""

    title: str
    labs: tuple[LabRow, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One step as it is shown; `at_s` seconds after the first, `key` for its icon."""

    number: int
    at_s: float
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """One sentence that the lab is about, and whether this run bore it out."""

    text: str
    seen: bool


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run as its page shows it."""

    run: LabRun
    lab: LabRow
    lines: tuple[Line, ...]
    claims: tuple[Judged, ...]
    divided: Divided | None
    group: str
    finding: str
    lost: bool


def embedded_cluster() -> Cluster | None:
    """Return the embedded cluster, if one is configured."""
    return Cluster.objects.filter(embedded=True, configured=True).first()


def lab_rows(cluster: Cluster | None, now: datetime) -> list[LabRow]:
    """Return every lab with its newest run on a cluster."""
    newest: dict[str, LabRun] = {}
    if cluster is not None:
        rows = LabRun.objects.filter(cluster=cluster).defer("steps")
        for run in rows.order_by("asked_at", "pk"):
            newest[run.lab] = run
    return [lab_row(entry, newest.get(entry.name), now) for entry in entries()]


def themes_of(rows: Sequence[LabRow]) -> list[Theme]:
    """Return the labs by what they are about."""
    by_name = {row.name: row for row in rows}
    return [
        Theme(str(title), tuple(by_name[name] for name in names))
        for title, names in THEMES
    ]


def lab_row(entry: LabEntry, run: LabRun | None, now: datetime) -> LabRow:
    """Return one lab in the reader's language."""
    return LabRow(
        entry.name,
        gettext(entry.title),
        entry.rules,
        str(EXPLANATIONS[entry.name]),
        str(TAKES.get(entry.name, "")),
        tuple(
            Field(name, str(PARAMETERS[name]), default)
            for name, default in entry.parameters.items()
        ),
        run,
        run is not None and run.is_lost(now),
        drawing_of(entry.name),
    )


def shown_run(run: LabRun, now: datetime) -> ShownRun:
    """Return a run with its steps and claims in words."""
    steps: Sequence[Mapping[str, Any]] = run.steps
    first_ms = steps[0]["at_ms"] if steps else 0
    row = lab_row(entry_named(run.lab), run, now)
    return ShownRun(
        run,
        row,
        tuple(
            Line(
                number,
                (step["at_ms"] - first_ms) / 1000,
                step["key"].rpartition(".")[2],
                sentence(run.lab, step["key"], step["params"]),
            )
            for number, step in enumerate(steps, 1)
        ),
        tuple(
            Judged(sentence(run.lab, each["key"], each["params"]), each["seen"])
            for each in run.claims
        ),
        _division(steps),
        _group(steps) if run.is_active else "",
        str(FINDINGS.get(run.finding, "")),
        row.lost,
    )


def _division(steps: Sequence[Mapping[str, Any]]) -> Divided | None:
    for step in reversed(steps):
        if step["key"] in ("division", "broadcast"):
            params = step["params"]
            return divided(params["topic"], params["parts"], params.get("unowned"))
    return None


def _group(steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the group that was joined last: the one to watch."""
    for step in reversed(steps):
        if step["key"] == "joined":
            return str(step["params"]["group"])
    return ""
