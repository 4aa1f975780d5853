"""What a trial found, in sentences."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.trial import OF_RATES, SKEW
from dashboard.reports.words import source_word, step_word
from dashboard.wording import numbers

from .trial_chart import limit_text, limit_word
from .trials import Trial

_JUST_NOW = timedelta(minutes=5)


def headline(trial: Trial) -> str:
    """Say how often the rule would have fired."""
    fired, when = trial.fired or 0, _when(trial)
    if not fired:
        return _("It would not have fired %(when)s.") % {"when": when}
    if trial.is_one_group:
        return ngettext(
            "It would have fired %(count)s time %(when)s.",
            "It would have fired %(count)s times %(when)s.",
            fired,
        ) % {"count": numbers.count(fired), "when": when}
    return ngettext(
        "It would have fired %(count)s time %(when)s, in %(some)s of %(all)s groups.",
        "It would have fired %(count)s times %(when)s, in %(some)s of %(all)s groups.",
        fired,
    ) % {
        "count": numbers.count(fired),
        "when": when,
        "some": trial.result["fired_groups"],
        "all": trial.result["group_count"],
    }


def _when(trial: Trial) -> str:
    run = trial.run
    span = run.until - run.since
    if abs(run.asked_at - run.until) > _JUST_NOW:
        begin, end = (timezone.localtime(each) for each in (run.since, run.until))
        return _("from %(since)s to %(until)s") % {
            "since": f"{begin:%Y-%m-%d %H:%M}",
            "until": f"{end:%Y-%m-%d %H:%M}",
        }
    if span % timedelta(days=1) == timedelta() and span > timedelta(days=1):
        return _("in the last %(count)s days") % {"count": span.days}
    hours = max(1, round(span / timedelta(hours=1)))
    return ngettext("in the last hour", "in the last %(count)s hours", hours) % {
        "count": hours
    }


def rule_text(trial: Trial) -> str:
    """Say the condition, and for how long it has to hold."""
    hold_ms = trial.rule.held_ms
    if not hold_ms:
        return limit_word(trial)
    return _("%(condition)s for %(span)s") % {
        "condition": limit_word(trial),
        "span": numbers.duration(hold_ms),
    }


def notes(trial: Trial) -> list[str]:
    """Say what would be otherwise, and how exact the counts are."""
    result = trial.result
    found = [_others(trial)] if result["others"] else []
    since = trial.measured_since
    if since is not None:
        found.append(
            _("The lake has nothing of the time before %(since)s.")
            % {"since": f"{timezone.localtime(since):%Y-%m-%d %H:%M}"}
        )
    step = step_word(result["step_seconds"])
    found.append(
        _(
            "Read from %(source)s, in steps of %(step)s: the worst value of each step "
            "stands for all of it, and times are exact to a step."
        )
        % {"source": source_word(result["source"]), "step": step}
    )
    if trial.rule.kind in OF_RATES:
        found.append(_("Rates are means over a step."))
    if trial.rule.kind == SKEW and result["source"] != "samples":
        found.append(
            _("Roll-ups do not name owners: queues are divided by the strategy.")
        )
    return found


def unknown_note(trial: Trial) -> str:
    """Say how long nothing was known; empty if all was."""
    unknown_ms = trial.result["unknown_ms"]
    if not unknown_ms:
        return ""
    span = numbers.duration(unknown_ms)
    if trial.is_one_group:
        return _("not measured for %(span)s: it might have fired there.") % {
            "span": span
        }
    groups = trial.result["unknown_groups"]
    return ngettext(
        "not measured for %(span)s, in %(count)s group: it might have fired there.",
        "not measured for %(span)s, in %(count)s groups: it might have fired there.",
        groups,
    ) % {"span": span, "count": groups}


def _others(trial: Trial) -> str:
    parts = [
        _("at %(limit)s it would be %(count)s")
        % {"limit": limit_text(trial, each["limit"]), "count": each["fired"]}
        for each in trial.result["others"]
    ]
    text = _(", ").join(parts) + _(".")
    return text[0].upper() + text[1:]
