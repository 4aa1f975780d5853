"""The figures at the head of a report in words, for the page and the files alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.reports.report import Report
from dashboard.wording import numbers

from .facts import Facts, Highest, facts_of
from .spans import span
from .twins import clock


@dataclass(frozen=True, slots=True)
class Stat:
    """One figure: its name, its value (None is unknown), and what goes with it."""

    name: str
    value: str | None
    note: str


def stats_of(report: Report) -> list[Stat]:
    """Return the figures of a finished run, the most asked for first."""
    facts = facts_of(report)
    stats = [
        Stat(
            _("Peak lag"),
            highest_text(facts.peak, numbers.count),
            _when(facts.peak, report.zone),
        ),
        Stat(
            _("Oldest message, peak"),
            highest_text(facts.oldest, numbers.duration),
            _when(facts.oldest, report.zone) or _("age was not asked"),
        ),
        Stat(
            _("Time behind"),
            None if facts.behind is None else span(facts.behind),
            _("age was not asked")
            if facts.behind is None
            else _("of %(all)s; oldest over 30 s") % {"all": span(facts.aged)},
        ),
        Stat(
            _("In/s, out/s, mean"),
            f"{_rate(facts.in_rate)} / {_rate(facts.out_rate)}",
            _("messages per second"),
        ),
    ]
    if report.group:
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


def highest_text(found: Highest | None, write: Callable[[float], str]) -> str | None:
    """Write the highest value of a period; with ≥ where it is that of some queues."""
    if found is None:
        return None
    text = write(found.value)
    return f"≥ {text}" if found.is_least else text


def holes_text(facts: Facts) -> str:
    """Say for how long, and in how many spans, not all is known; empty where it is.

    The spans are those that the figure of the lag hatches.
    """
    return " ".join(_holes(facts))


def _holes(facts: Facts) -> Iterator[str]:
    known = facts.measured
    if known.missing:
        yield ngettext(
            "Nothing was collected for %(time)s, in %(n)s span.",
            "Nothing was collected for %(time)s, in %(n)s spans.",
            known.missing_spans,
        ) % {"time": span(known.missing), "n": known.missing_spans}
    if known.partial:
        yield ngettext(
            "Only some of the queues are known for %(time)s, in %(n)s span.",
            "Only some of the queues are known for %(time)s, in %(n)s spans.",
            known.partial_spans,
        ) % {"time": span(known.partial), "n": known.partial_spans}
    if known.missing or known.partial:
        yield _(
            "That time is hatched, not 0; the figures are of the %(time)s in which all "
            "queues are known."
        ) % {"time": span(known.whole)}
    if known.within:
        yield _(
            "Within the steps that are drawn, at least one queue was not "
            "known for up to %(time)s."
        ) % {"time": span(known.within)}


def _when(found: Highest | None, zone: tzinfo) -> str:
    if found is None:
        return ""
    if found.part is None:
        return clock(found.at, zone)
    return _("%(when)s, from %(known)s of %(all)s queues") % {
        "when": clock(found.at, zone),
        "known": found.part.known,
        "all": found.part.queues,
    }


def _rate(value: float | None) -> str:
    return "—" if value is None else numbers.rate(value)
