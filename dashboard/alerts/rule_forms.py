"""The form of a rule: text read into values, and shown again as it was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.alerting.kinds import ABOUT, Kind
from dashboard.models import AlertRule, Channel

from .quantities import read_number, read_span, written, written_span
from .refusals import AlertRefusedError
from .rule_writes import RuleFields
from .words import finding_choices

MOST_CHARS: Final = 40
LIMITED: Final = " ".join(
    kind for kind, about in ABOUT.items() if about.most is not None
)
OF_GROUPS: Final = " ".join(kind for kind, about in ABOUT.items() if not about.broker)
CLOSING: Final = " ".join(
    kind
    for kind, about in ABOUT.items()
    if about.most is not None and not about.broker and "stops" not in kind
)
_TIMES: Final = ("within", "hold", "clear", "escalate_after")


def _text(**attrs: Any) -> forms.TextInput:
    return forms.TextInput({"class": "input", "autocomplete": "off", **attrs})


def _typed(label: Any, placeholder: str = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=MOST_CHARS,
        widget=_text(placeholder=placeholder),
    )


class RuleForm(forms.Form):
    """A rule; `wish` reads what was typed. What is allowed is said by `rule_writes`."""

    use_required_attribute = False
    name = forms.CharField(label=_("Name"), max_length=80, widget=_text())
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=Kind.choices,
        widget=forms.Select({"class": "input", "data-kind": True}),
    )
    limit = _typed(_("Limit"))
    clear_limit = _typed(_("Closes at"))
    finding = forms.ChoiceField(
        label=_("Finding"),
        required=False,
        choices=finding_choices,
        widget=forms.Select({"class": "input"}),
    )
    within = _typed(_("Within"), "10 min")
    hold = _typed(_("For"), "0 s")
    clear = _typed(_("Closes after"), "0 s")
    severity = forms.ChoiceField(
        label=_("Severity"),
        choices=AlertRule.Severity.choices,
        widget=forms.Select({"class": "input"}),
    )
    cluster = forms.ChoiceField(
        label=_("Cluster"), required=False, widget=forms.Select({"class": "input"})
    )
    groups = forms.CharField(
        label=_("Groups"),
        required=False,
        max_length=255,
        widget=_text(spellcheck="false", placeholder="*"),
    )
    team = forms.CharField(
        label=_("Team"),
        required=False,
        max_length=60,
        widget=_text(list="known-teams"),
    )
    channels = forms.MultipleChoiceField(
        label=_("Tells"), required=False, widget=forms.CheckboxSelectMultiple()
    )
    escalate_after = _typed(_("If nobody acknowledges within"), "15 min")
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
        kind = given["kind"]
        times = {name: self._seconds(name) for name in _TIMES}
        return RuleFields(
            name=given["name"],
            kind=kind,
            limit=self._figure("limit", kind),
            clear_limit=self._figure("clear_limit", kind),
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

    def _figure(self, name: str, kind: str) -> float | None:
        text = self.cleaned_data[name]
        about = ABOUT[kind]
        ignored = about.most is None or (
            name == "clear_limit" and kind not in CLOSING.split()
        )
        if not text or ignored:
            return None
        return read_span(text, name) if about.unit == "ms" else read_number(text, name)

    def _seconds(self, name: str) -> int | None:
        text = self.cleaned_data[name]
        return round(read_span(text, name) / 1000) if text else None


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
