"""What happened in a period, in one line: the lag at both ends, and the rates between.

The lag is that of the first and of the last step in which all queues are known; it is
left out where there is none, as rates are that were not collected. It stayed the same
only if it was never more and never less between.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from dashboard.reports.report import Report, once
from dashboard.wording import numbers
from dashboard.wording.sizes import percent

from .facts import facts_of
from .steps import lag_steps


@once
def headline(report: Report) -> str:
    """Return the line, empty if neither lag nor rates are known."""
    facts = facts_of(report)
    steps = lag_steps(report)
    lags = [step.lag for step in steps if step.lag is not None]
    peaks = [step.peak for step in steps if step.peak is not None]
    axis = report.axis
    return headline_of(
        (lags[0], lags[-1]) if lags else None,
        facts.in_rate,
        facts.out_rate,
        between=(min(lags), max(*lags, *peaks)) if lags else None,
        known=facts.measured.whole / (axis.until - axis.since),
    )


def headline_of(
    lags: tuple[float, float] | None,
    in_rate: float | None,
    out_rate: float | None,
    *,
    between: tuple[float, float] | None = None,
    known: float = 1,
) -> str:
    """Return the line for a lag at the begin and at the end, and two mean rates.

    `between` are the lowest and the highest lag. `known` is the share of the time in
    which the lag of all queues is known, from 0 to 1.
    """
    lag, rates = _lag(lags, between), _rates(in_rate, out_rate)
    if lag and known < 1:
        share = percent(min(max(known, 0.01), 0.99))
        lag = _("%(lag)s (known for %(share)s of the time)") % {
            "lag": lag,
            "share": share,
        }
    if lag and rates:
        return _("%(lag)s: %(rates)s") % {"lag": lag, "rates": rates}
    return lag or rates


def _lag(lags: tuple[float, float] | None, between: tuple[float, float] | None) -> str:
    if lags is None:
        return ""
    first, last, *others = map(numbers.compact, (*lags, *(between or ())))
    if between and len({first, last, *others}) == 1:
        return _("Lag stayed at %(last)s") % {"last": last}
    return _("Lag from %(first)s to %(last)s") % {"first": first, "last": last}


def _rates(in_rate: float | None, out_rate: float | None) -> str:
    known = []
    if in_rate is not None:
        known.append(_("%(rate)s/s in") % {"rate": numbers.rate(in_rate)})
    if out_rate is not None:
        known.append(_("%(rate)s/s out") % {"rate": numbers.rate(out_rate)})
    return _(", ").join(known) if len(known) > 1 else "".join(known)
