"""The forms of channels and silences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dashboard.frame.reasons import MAX_REASON
from dashboard.models import AlertRule

from .channel_writes import MOST_ADDRESS
from .refusals import AlertRefusedError
from .writes import SilenceFields, end_of

SPANS: Final = {
    "1h": (timedelta(hours=1), _("1 hour")),
    "4h": (timedelta(hours=4), _("4 hours")),
    "24h": (timedelta(hours=24), _("24 hours")),
    "7d": (timedelta(days=7), _("7 days")),
    "until": (None, _("until …")),
}


def _text(**attrs: Any) -> forms.TextInput:
    return forms.TextInput({"class": "input", "autocomplete": "off", **attrs})


class RefusingForm(forms.Form):
    """A form that shows a refusal of the services beside its field."""

    use_required_attribute = False

    def refuse(self, refusal: AlertRefusedError) -> None:
        """Show a refusal beside the field that it is about."""
        field = refusal.field
        self.add_error(field if field in self.fields else None, str(refusal))


class ChannelForm(RefusingForm):
    """A channel; an address that is left empty stays as it is."""

    name = forms.CharField(label=_("Name"), max_length=60, widget=_text())
    address = forms.CharField(
        label=_("Address"),
        required=False,
        max_length=MOST_ADDRESS,
        widget=forms.PasswordInput(
            {"class": "input", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
    language = forms.ChoiceField(
        label=_("Language of its messages"),
        choices=settings.LANGUAGES,
        widget=forms.Select({"class": "input"}),
    )
    on = forms.BooleanField(label=_("on"), required=False, initial=True)


class SilenceForm(RefusingForm):
    """What is not told, from when until when, and why; times are the reader's."""

    cluster = forms.ChoiceField(
        label=_("Cluster"), required=False, widget=forms.Select({"class": "input"})
    )
    groups = forms.CharField(
        label=_("Groups"),
        required=False,
        max_length=255,
        widget=_text(spellcheck="false", placeholder="*"),
    )
    rule = forms.ModelChoiceField(
        label=_("Rule"),
        queryset=AlertRule.objects.none(),
        required=False,
        empty_label=_("every rule"),
        widget=forms.Select({"class": "input"}),
    )
    starts_at = forms.DateTimeField(
        label=_("Begins, now if empty"),
        required=False,
        widget=_text(type="datetime-local"),
    )
    span = forms.ChoiceField(
        label=_("Lasts"),
        required=False,
        choices=[(key, label) for key, (_span, label) in SPANS.items()],
        widget=forms.Select({"class": "input", "data-kind": True}),
    )
    ends_at = forms.DateTimeField(
        label=_("Ends"), required=False, widget=_text(type="datetime-local")
    )
    reason = forms.CharField(
        label=_("Reason, kept in the audit log"),
        required=False,
        max_length=MAX_REASON,
        widget=_text(),
    )

    def __init__(
        self, *args: Any, clusters: Sequence[Any], rules: Any, **more: Any
    ) -> None:
        super().__init__(*args, **more)
        self.fields["cluster"].choices = clusters  # type: ignore[attr-defined]
        self.fields["rule"].queryset = rules  # type: ignore[attr-defined]

    @property
    def wish(self) -> SilenceFields:
        """Return what a valid form asks for."""
        given = self.cleaned_data
        starts_at: datetime | None = given["starts_at"]
        span = SPANS.get(given["span"], (None, ""))[0]
        ends_at = given["ends_at"]
        if span is not None:
            ends_at = end_of(starts_at or timezone.now(), span)
        if ends_at is None:
            raise AlertRefusedError(str(_("A silence needs an end.")), "ends_at")
        return SilenceFields(
            cluster=given["cluster"],
            groups=given["groups"],
            rule=given["rule"],
            starts_at=starts_at,
            ends_at=ends_at,
            reason=given["reason"],
        )
