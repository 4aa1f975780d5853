"""The form that tries a rule on the past: the same fields as those of a rule.

The form of a rule is sent here as it is, so that what is tried is what was typed.
"""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from analytics.trial import NOT_IN_LAKE
from dashboard.alerting.kinds import Kind
from dashboard.live.reading import read_overview
from dashboard.reports.request.periods import LAST, span_of

from .condition import ConditionForm
from .matching import groups_of
from .refusals import AlertRefusedError
from .trials import MOST_GROUPS, TrialWish, last

SPANS: Final = tuple((key, LAST[key][1]) for key in ("24h", "7d", "30d"))


class TrialForm(ConditionForm):
    """A rule, the groups that it is about, and how much of the past to look at."""

    span = forms.ChoiceField(
        label=_("Past"),
        choices=SPANS,
        required=False,
        widget=forms.Select({"class": "input"}),
        initial="7d",
    )

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        tried = [each for each in Kind.choices if each[0] not in NOT_IN_LAKE]
        # A rule of another kind is refused with the reason, not as an unknown choice.
        self.fields["kind"].widget.choices = tried

    def wish(self, cluster: str) -> TrialWish:
        """Return what a valid form asks for; AlertRefusedError for a figure."""
        given = self.cleaned_data
        since, until = last(span_of(given["span"] or "7d"))
        groups, pattern = self._groups(cluster)
        return TrialWish(
            cluster=cluster,
            since=since,
            until=until,
            kind=given["kind"],
            limit=self.figure("limit") or 0.0,
            clear_limit=self.figure("clear_limit"),
            hold_ms=self.milliseconds("hold") or 0,
            clear_ms=self.milliseconds("clear") or 0,
            pattern=pattern,
            groups=groups,
        )

    def _groups(self, cluster: str) -> tuple[tuple[str, ...], str]:
        """Return names, for the groups that a team owns now, or a pattern."""
        pattern, team = self.cleaned_data["groups"].strip(), self.cleaned_data["team"]
        if not team:
            return (), pattern or "*"
        overview = read_overview(cluster).document
        found = groups_of(overview, pattern, team) if overview else []
        if not 0 < len(found) <= MOST_GROUPS:
            raise AlertRefusedError(
                _(
                    "The team “%(team)s” owns %(n)s groups that match now; a rule can "
                    "be tried on 1 to %(most)s of them."
                )
                % {"team": team, "n": len(found), "most": MOST_GROUPS},
                "team",
            )
        return tuple(found), ""
