"""The strategy that would have been best in the period, and by how much, in sentences.

The first sentence is the answer; the others say what else speaks for or against it.
Strategies are compared with the one that was in use, among the same members, so that
the loads of their busiest members are in the same ratio as their max / mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from django.utils.translation import gettext as _

from dashboard.reports.report import Report, once

from .spans import span
from .strategies import StrategyRow, strategy_rows

SMALL: Final = 0.05
"""Less load than this on the busiest member is not a reason to change."""

_ENOUGH: Final = 0.9
"""Loads known for this share of the period represent all of it."""

_NOTHING: Final = timedelta(0)


class Answer(StrEnum):
    """The outcome of the comparison."""

    UNKNOWN = "unknown"
    KEEP = "keep"
    ALIKE = "alike"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one sentence, and what goes with it."""

    answer: Answer
    text: str
    further: Sequence[str] = ()

    @property
    def whole(self) -> str:
        return " ".join((self.text, *self.further))


@once
def verdict_of(report: Report) -> Verdict | None:
    """Return the verdict of a finished run; None for a report of all groups."""
    rows = strategy_rows(report)
    return judge(rows, report.until - report.since) if rows else None


def judge(rows: Sequence[StrategyRow], period: timedelta) -> Verdict:
    """Return the verdict over strategies in the order of their ranks."""
    ranked = [row for row in rows if row.is_strategy and row.rank is not None]
    if not ranked:
        return Verdict(
            Answer.UNKNOWN,
            _(
                "Which strategy would have been best is not known, because no "
                "message rates were collected in this period."
            ),
        )
    best = ranked[0]
    used = [row for row in rows if row.in_use]
    if len(used) != 1 or used[0].max_to_mean is None:
        return Verdict(
            Answer.UNKNOWN,
            _(
                "%(best)s would have been the most even: its busiest member would have "
                "had %(load)s times the mean load."
            )
            % {"best": best.name, "load": _two(best)},
            [_why_not_compared(used), *_further(rows, best, best, period)],
        )
    return _compared(rows, ranked, used[0], period)


def _compared(
    rows: Sequence[StrategyRow],
    ranked: Sequence[StrategyRow],
    used: StrategyRow,
    period: timedelta,
) -> Verdict:
    best = ranked[0]
    less = less_load(best, used)
    other = next((row for row in ranked if row is not used), used)
    names = {
        "best": best.name,
        "used": used.name,
        "load": _two(best),
        "load_used": _two(used),
        "less": f"{less * 100:.0f} %",
        "next": other.name,
        "load_next": _two(other),
    }
    if best is used or less <= 0:
        answer = Answer.KEEP
        text = _keep(ranked, used)
    elif less < SMALL:
        answer = Answer.ALIKE
        text = _(
            "The strategies hardly differ: the busiest member had "
            "%(load_used)s times the mean load with %(used)s, and would have "
            "had %(load)s times with %(best)s. That alone is no reason to "
            "change."
        )
    else:
        answer = Answer.CHANGE
        text = _(
            "%(best)s would have been best: its busiest member would have had %(load)s "
            "times the mean load, not %(load_used)s as with %(used)s. That is %(less)s "
            "less."
        )
    if used.is_assumed:
        names["used"] = _("%(used)s (assumed to be in use)") % {"used": used.name}
    return Verdict(answer, text % names, list(_further(rows, best, used, period)))


def less_load(best: StrategyRow, used: StrategyRow) -> float:
    """Return by what share the busiest member's load would have been lower."""
    if best.max_to_mean is None or not used.max_to_mean:
        return 0.0
    return 1 - best.max_to_mean / used.max_to_mean


def _keep(ranked: Sequence[StrategyRow], used: StrategyRow) -> str:
    others = [row for row in ranked if row is not used]
    if not others:
        return _(
            "%(used)s was in use: its busiest member had %(load_used)s times the mean "
            "load. No other strategy could be computed."
        )
    if less_load(used, others[0]) < SMALL:
        return _(
            "%(used)s, in use, was as good as any: its busiest member had "
            "%(load_used)s times the mean load, and no other strategy would have been "
            "more even."
        )
    return _(
        "%(used)s, in use, was the best: its busiest member had %(load_used)s times "
        "the mean load. With %(next)s, the next best, it would have had %(load_next)s."
    )


def _why_not_compared(used: Sequence[StrategyRow]) -> str:
    if not used:
        return _("Which strategy was in use is not known, or could not be computed.")
    if len(used) > 1:
        return _("The strategy in use changed in the period: %(names)s.") % {
            "names": ", ".join(row.name for row in used)
        }
    return _("How even %(used)s was, which is in use, is not known.") % {
        "used": used[0].name
    }


def _further(
    rows: Sequence[StrategyRow],
    best: StrategyRow,
    used: StrategyRow,
    period: timedelta,
) -> Iterator[str]:
    yield from _drains(used)
    yield from _overloads(best, used)
    if less_load(best, used) >= SMALL:
        yield from _moves(best, used)
    yield from _balanced(rows, best)
    yield from _with_members(rows, used)
    yield from _coverage(best, period)


def _drains(used: StrategyRow) -> Iterator[str]:
    if used.never_drains and used.never is not None:
        yield _(
            "With %(used)s, lag would never have drained during %(span)s: somebody had "
            "more to do than any member was seen to take, or a queue had no owner."
        ) % {"used": used.name, "span": span(used.never)}


def _overloads(best: StrategyRow, used: StrategyRow) -> Iterator[str]:
    if best is used or used.overload is None or best.overload is None:
        return
    if used.overload > _NOTHING or best.overload > _NOTHING:
        yield _(
            "Time overloaded: %(span)s with %(best)s, %(span_used)s with %(used)s."
        ) % {
            "best": best.name,
            "span": span(best.overload),
            "used": used.name,
            "span_used": span(used.overload),
        }


def _moves(best: StrategyRow, used: StrategyRow) -> Iterator[str]:
    more, now = best.moves_per_change, used.moves_per_change
    if more is not None and now is not None and more > now:
        yield _(
            "It moves more queues each time members change: %(more)s instead "
            "of %(now)s."
        ) % {"more": f"{more:.1f}", "now": f"{now:.1f}"}


def _balanced(rows: Sequence[StrategyRow], best: StrategyRow) -> Iterator[str]:
    plan = next((row for row in rows if row.is_balanced), None)
    if plan is not None and less_load(plan, best) >= SMALL:
        yield _(
            "A plan made for these loads (the balanced plan, by CONFIG) would have "
            "come to %(load)s."
        ) % {"load": _two(plan)}


def _with_members(rows: Sequence[StrategyRow], used: StrategyRow) -> Iterator[str]:
    """Say what members more or fewer would have meant: their max / mean would not."""
    for row in rows:
        if row.added and row.overload is not None and used.overload is not None:
            if span(row.overload) == span(used.overload):
                yield _("%(title)s: overloaded for the same time, %(span)s.") % {
                    "title": row.title,
                    "span": span(used.overload),
                }
            else:
                yield _(
                    "%(title)s: overloaded for %(span)s instead of %(span_used)s."
                ) % {
                    "title": row.title,
                    "span": span(row.overload),
                    "span_used": span(used.overload),
                }


def _coverage(best: StrategyRow, period: timedelta) -> Iterator[str]:
    if best.known is not None and best.known < period * _ENOUGH:
        yield _("Measured for %(known)s of %(all)s.") % {
            "known": span(best.known),
            "all": span(period),
        }


def _two(row: StrategyRow) -> str:
    return f"{row.max_to_mean:.2f}"
