"""The form of a rule: text read into values, and shown again as it was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.alerting.kinds import ABOUT
from dashboard.models import AlertRule, Channel

from .condition import ConditionForm, text_input, typed
from .quantities import written, written_span
from .refusals import AlertRefusedError
from .rule_writes import RuleFields
from .words import finding_choices

LIMITED: Final = " ".join(
    kind for kind, about in ABOUT.items() if about.most is not None
)
OF_GROUPS: Final = " ".join(kind for kind, about in ABOUT.items() if not about.broker)
_TIMES: Final = ("within", "hold", "clear", "escalate_after")


class RuleForm(ConditionForm):
    """A rule; `wish` reads what was typed. What is allowed is said by `rule_writes`."""

    name = forms.CharField(label=_("Name"), max_length=80, widget=text_input())
    finding = forms.ChoiceField(
        label=_("Finding"),
        required=False,
        choices=finding_choices,
        widget=forms.Select({"class": "input"}),
    )
    within = typed(_("Within"), "10 min")
    severity = forms.ChoiceField(
        label=_("Severity"),
        choices=AlertRule.Severity.choices,
        widget=forms.Select({"class": "input"}),
    )
    cluster = forms.ChoiceField(
        label=_("Cluster"), required=False, widget=forms.Select({"class": "input"})
    )
    channels = forms.MultipleChoiceField(
        label=_("Tells"), required=False, widget=forms.CheckboxSelectMultiple()
    )
    escalate_after = typed(_("If nobody acknowledges within"), "15 min")
    escalation = forms.MultipleChoiceField(
        label=_("Then also tells"),
        required=False,
        widget=forms.CheckboxSelectMultiple(),
    )
    on = forms.BooleanField(label=_("on"), required=False)

    def __init__(self, *args: Any, clusters: Sequence[Any], **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["cluster"].choices = clusters  # type: ignore[attr-defined]
        channels = [(each.name, each.name) for each in Channel.objects.all()]
        for name in ("channels", "escalation"):
            self.fields[name].choices = channels  # type: ignore[attr-defined]

    @property
    def wish(self) -> RuleFields:
        """Return what a valid form asks for; AlertRefusedError for a figure."""
        given = self.cleaned_data
        times = {name: self._seconds(name) for name in _TIMES}
        return RuleFields(
            name=given["name"],
            kind=given["kind"],
            limit=self.figure("limit"),
            clear_limit=self.figure("clear_limit"),
            finding=given["finding"],
            within_s=times["within"] or 600,
            hold_s=times["hold"] or 0,
            clear_s=times["clear"] or 0,
            severity=given["severity"],
            cluster=given["cluster"],
            groups=given["groups"].strip(),
            team=given["team"],
            channels=tuple(given["channels"]),
            escalate_after_s=times["escalate_after"],
            escalation=tuple(given["escalation"]),
            on=given["on"],
        )

    def refuse(self, refusal: AlertRefusedError) -> None:
        """Show a refusal of the services beside the field that it is about."""
        field = refusal.field.removesuffix("_s")
        self.add_error(field if field in self.fields else None, str(refusal))

    def _seconds(self, name: str) -> int | None:
        span = self.milliseconds(name)
        return None if span is None else round(span / 1000)


def begun(kind: str, cluster: str) -> dict[str, Any]:
    """Return the initial values of a new rule: the usual ones of its kind."""
    about = ABOUT[kind]
    return {
        "kind": kind,
        "limit": written(about.unit, about.usual),
        "hold": "1 min",
        "clear": "1 min",
        "within": "10 min",
        "severity": AlertRule.Severity.WARNING,
        "cluster": cluster,
        "on": True,
    }


def initial_of(rule: AlertRule) -> dict[str, Any]:
    """Return a rule's values as people type them."""
    fields, unit = RuleFields.of(rule), ABOUT[rule.kind].unit
    after = fields.escalate_after_s
    return {
        "name": fields.name,
        "kind": fields.kind,
        "limit": written(unit, fields.limit),
        "clear_limit": written(unit, fields.clear_limit),
        "finding": fields.finding,
        "within": written_span(fields.within_s * 1000),
        "hold": written_span(fields.hold_s * 1000),
        "clear": written_span(fields.clear_s * 1000),
        "severity": fields.severity,
        "cluster": fields.cluster,
        "groups": fields.groups,
        "team": fields.team,
        "channels": list(fields.channels),
        "escalate_after": "" if after is None else written_span(after * 1000),
        "escalation": list(fields.escalation),
        "on": fields.on,
    }
