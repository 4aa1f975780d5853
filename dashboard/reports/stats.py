"""The figures at the head of a report in words, for the page and the files alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.models import JobRun
from dashboard.views import figures

from .facts import Facts
from .spans import span
from .twins import clock


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure: its name, its value (None is unknown), and what goes with it."""

    name: str
    value: str | None
    note: str


def stats_of(run: JobRun, facts: Facts, zone: tzinfo) -> list[Stat]:
    """Return the figures of a finished run, the most asked for first."""
    stats = [
        Stat(
            _("Peak lag"),
            None if facts.peak is None else figures.count(facts.peak),
            "" if facts.peak_at is None else clock(facts.peak_at, zone),
        ),
        Stat(
            _("Oldest message, peak"),
            None if facts.oldest_ms is None else figures.duration(facts.oldest_ms),
            _("age was not asked")
            if facts.oldest_at is None
            else clock(facts.oldest_at, zone),
        ),
        Stat(
            _("Time behind"),
            None if facts.behind is None else span(facts.behind),
            _("of %(all)s; oldest over 30 s") % {"all": span(facts.collected)},
        ),
        Stat(
            _("In/s, out/s, mean"),
            f"{_rate(facts.in_rate)} / {_rate(facts.out_rate)}",
            _("messages per second"),
        ),
    ]
    if run.group:
        epochs = ngettext("%(n)s epoch", "%(n)s epochs", facts.epochs)
        stats += [
            Stat(_("Rebalances"), str(facts.rebalances), epochs % {"n": facts.epochs}),
            Stat(
                _("Mean skew"),
                None if facts.skew is None else f"{facts.skew:.2f}×",
                _("max / mean load"),
            ),
        ]
    return stats


def missing_of(facts: Facts) -> str:
    """Return for how long nothing was collected; empty for less than a step."""
    return span(facts.missing) if facts.missing > facts.step else ""


def _rate(value: float | None) -> str:
    return "—" if value is None else figures.rate(value)
