"""What a move does, in the page's words and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.live.documents import GroupState
from dashboard.wording.numbers import count, duration

from .plan import Plan, Row
from .reads import Preview
from .wanted import Wanted

_FASTER: Final = 1.05
"""Rates out must exceed rates in by this factor; less may be measurement noise."""


@dataclass(frozen=True, slots=True)
class Sum:
    """One number above the preview, with the words below it."""

    name: str
    value: str
    below: str = ""
    level: str = ""


def headline(wanted: Wanted) -> str:
    """Say where the offsets go, in a few words."""
    match wanted.kind:
        case "time":
            local = timezone.localtime(datetime.fromtimestamp(wanted.at_ms / 1000, UTC))
            return _("to %(time)s") % {"time": f"{local:%Y-%m-%d %H:%M:%S}"}
        case "earliest":
            return _("to the earliest message kept")
        case "latest":
            return _("to the end, skipping what waits")
        case "offset":
            return _("to offsets given for each queue")
        case "group":
            return _("to what “%(group)s” has committed") % {"group": wanted.source}
        case "undo":
            return _("back to before move %(pk)s") % {"pk": wanted.undo_of}


def note_of(row: Row, wanted: Wanted) -> str:
    """Say why a queue stays as it is, or what is special about its new offset."""
    if not row.note:
        return ""
    low, high = count(row.place.low), count(row.place.high)
    values = {"low": low, "high": high, "error": row.detail, "asked": row.detail}
    values["group"] = wanted.source
    return _NOTES[row.note]() % values


_NOTES: Final[Mapping[str, Callable[[], str]]] = {
    "unanswered": lambda: _("left as it is: its broker does not answer, %(error)s"),
    "not_found": lambda: _("left as it is: no offset for that time, %(error)s"),
    "source_unanswered": lambda: _(
        "left as it is: the offset of “%(group)s” is not known, %(error)s"
    ),
    "not_chosen": lambda: _("not chosen"),
    "nothing_given": lambda: _("left as it is: no offset given"),
    "source_has_none": lambda: _("left as it is: “%(group)s” committed nothing here"),
    "had_none": lambda: _("left as it is: it did not move, or had no offset before"),
    "not_moved": lambda: _("left as it is"),
    "members_unknown": lambda: _(
        "left as it is: no broker says whether members are online"
    ),
    "resets_unknown": lambda: _(
        "left as it is: the broker does not say how it resets while members are online"
    ),
    "only_by_time": lambda: _(
        "left as it is: this broker resets only all queues by time while members are "
        "online; stop them first"
    ),
    "below": lambda: _(
        "%(asked)s is no longer kept: starts at %(low)s, the first kept"
    ),
    "above": lambda: _("%(asked)s does not exist yet: starts at the end, %(high)s"),
    "first_kept": lambda: _("starts at its first message kept; older ones are gone"),
    "starts": lambda: _("nothing was committed before"),
}


def sums(preview: Preview, state: GroupState | None) -> list[Sum]:
    """Return the numbers above the table."""
    plan = preview.plan
    about = "" if preview.online is False else "≈ "
    partly = "≥ " if plan.lag_partial else about
    after = plan.lag_after
    return [
        _moving(plan),
        Sum(_("Seen again"), about + count(plan.again), _again_below(plan, state)),
        _skipped(plan),
        Sum(
            _("Lag after"),
            "—" if after is None else partly + count(after),
            _("not known")
            if plan.lag_before is None
            else _("now %(lag)s")
            % {"lag": ("≥ " if plan.before_partial else "") + count(plan.lag_before)},
        ),
        catching_up(plan.lag_after, *_rates(state), partial=plan.lag_partial),
        _members(preview),
    ]


def _moving(plan: Plan) -> Sum:
    left = len(plan.left)
    below = ""
    if plan.unknown:
        below = _("%(n)s left as they are: unknown") % {"n": len(plan.unknown)}
    elif left:
        below = _("%(n)s left as they are") % {"n": left}
    of = _("%(moving)s of %(all)s") % {
        "moving": len(plan.moving),
        "all": len(plan.rows),
    }
    return Sum(_("Queues that move"), of, below)


def _again_below(plan: Plan, state: GroupState | None) -> str:
    if plan.uncounted:
        return _("not counted: %(n)s without an offset so far") % {"n": plan.uncounted}
    rate = state["totals"]["rate_in"] if state else None
    if not rate or not plan.again:
        return ""
    return _("%(span)s of traffic") % {"span": duration(plan.again / rate * 1000)}


def _skipped(plan: Plan) -> Sum:
    if not plan.skipping:
        return Sum(_("Skipped for good"), count(0))
    first = plan.skipping[0].place
    queues = ngettext("%(n)s queue", "%(n)s queues", len(plan.skipping)) % {
        "n": len(plan.skipping)
    }
    below = _("%(queues)s, most in %(queue)s") % {
        "queues": queues,
        "queue": f"{first.broker} / {first.queue_id}",
    }
    return Sum(_("Skipped for good"), count(plan.skipped), below, "crit")


def _rates(state: GroupState | None) -> tuple[float | None, float | None]:
    if state is None:
        return None, None
    return state["totals"]["rate_in"], state["totals"]["rate_out"]


def catching_up(
    lag: int | None,
    rate_in: float | None,
    rate_out: float | None,
    *,
    partial: bool = False,
) -> Sum:
    """Say how long `lag` lasts if messages go on coming and going at these rates.

    Where the lag is `partial`, there may be more of it.
    """
    if lag is None or rate_in is None or rate_out is None:
        return Sum(_("Catches up in"), "—", _("rates are not known"))
    rates = {"out": count(rate_out), "in": count(rate_in)}
    said = _("if out %(out)s/s, in %(in)s/s") % rates
    if rate_out <= rate_in * _FASTER:
        return Sum(_("Catches up in"), "—", said)
    span = duration(lag / (rate_out - rate_in) * 1000)
    return Sum(_("Catches up in"), ("≥ " if partial else "") + span, said)


def _members(preview: Preview) -> Sum:
    members = preview.standing.members
    if members is None:
        return Sum(_("Group"), "—", _("no broker says who is connected"))
    if not members:
        return Sum(_("Group"), _("offline"), _("no members"))
    said = ngettext("%(n)s member", "%(n)s members", len(members))
    return Sum(_("Group"), _("online"), said % {"n": len(members)})
