"""The form that tries a rule: what it takes is what a trial takes."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from analytics.trial import DRAIN, KINDS, LAG, OLDEST, STOPS
from dashboard.reports.request.periods import LAST, span_of

from .trials import MOST_PATTERN, TrialWish, last

SPANS: Final = tuple((key, LAST[key][1]) for key in ("24h", "7d", "30d"))
KIND_WORDS: Final = {
    "lag": _("lag of a group"),
    "oldest": _("age of the oldest message, in seconds"),
    "drain": _("time to drain, in seconds"),
    "in_stops": _("nothing comes in"),
    "out_stops": _("nothing goes out while messages wait"),
    "skew": _("skew: largest lag of a member over the mean"),
    "members": _("fewer members than"),
}
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60_000
_MOST_MINUTES: Final = 7 * 24 * 60


def _input(**attrs: Any) -> dict[str, Any]:
    return {"class": "input", "autocomplete": "off", **attrs}


class TrialForm(forms.Form):
    """A rule, the groups that it is about, and how much of the past to look at."""

    use_required_attribute = False
    kind = forms.ChoiceField(
        label=_("When"),
        choices=[(kind, KIND_WORDS[kind]) for kind in KINDS],
        widget=forms.Select(_input()),
        initial=LAG,
    )
    pattern = forms.CharField(
        label=_("Groups"),
        max_length=MOST_PATTERN,
        widget=forms.TextInput(_input(spellcheck="false")),
        initial="*",
    )
    limit = forms.FloatField(
        label=_("Limit"),
        min_value=0,
        required=False,
        widget=forms.NumberInput(_input(step="any", min=0)),
        initial=10_000,
    )
    clear_limit = forms.FloatField(
        label=_("Over at"),
        min_value=0,
        required=False,
        widget=forms.NumberInput(_input(step="any", min=0)),
    )
    hold, clear = (
        forms.FloatField(
            label=label,
            min_value=0,
            max_value=_MOST_MINUTES,
            required=False,
            widget=forms.NumberInput(_input(step="any", min=0)),
            initial=initial,
        )
        for label, initial in (
            (_("For, in minutes"), 5),
            (_("Clear for, in minutes"), 1),
        )
    )
    span = forms.ChoiceField(
        label=_("Past"),
        choices=SPANS,
        widget=forms.Select(_input()),
        initial="7d",
    )

    def wish(self, cluster: str) -> TrialWish:
        """Return what a valid form asks for."""
        given = self.cleaned_data
        unit = _SECOND_MS if given["kind"] in {DRAIN, OLDEST} else 1
        clear = given["clear_limit"]
        since, until = last(span_of(given["span"]))
        return TrialWish(
            cluster=cluster,
            since=since,
            until=until,
            kind=given["kind"],
            limit=0.0 if given["kind"] in STOPS else (given["limit"] or 0.0) * unit,
            clear_limit=None if clear is None else clear * unit,
            hold_ms=round((given["hold"] or 0) * _MINUTE_MS),
            clear_ms=round((given["clear"] or 0) * _MINUTE_MS),
            pattern=given["pattern"],
        )
