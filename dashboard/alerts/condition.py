"""The fields that say when a rule holds, and for which groups, as people type them."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.alerting.kinds import ABOUT, Kind

from .quantities import read_number, read_span

MOST_CHARS: Final = 40
CLOSING: Final = " ".join(
    kind
    for kind, about in ABOUT.items()
    if about.most is not None and not about.broker and "stops" not in kind
)
"""The kinds that close at a limit of their own."""


def text_input(**attrs: Any) -> forms.TextInput:
    """Return a field for one line of text."""
    return forms.TextInput({"class": "input", "autocomplete": "off", **attrs})


def typed(label: Any, placeholder: str = "") -> forms.CharField:
    """Return a field for a figure with its unit."""
    return forms.CharField(
        label=label,
        required=False,
        max_length=MOST_CHARS,
        widget=text_input(placeholder=placeholder),
    )


class ConditionForm(forms.Form):
    """What a rule and a trial of one have in common."""

    use_required_attribute = False
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=Kind.choices,
        widget=forms.Select({"class": "input", "data-kind": True}),
    )
    limit = typed(_("Limit"))
    clear_limit = typed(_("Closes at"))
    hold = typed(_("For"), "0 s")
    clear = typed(_("Closes after"), "0 s")
    groups = forms.CharField(
        label=_("Groups"),
        required=False,
        max_length=255,
        widget=text_input(spellcheck="false", placeholder="*"),
    )
    team = forms.CharField(
        label=_("Team"),
        required=False,
        max_length=60,
        widget=text_input(list="known-teams"),
    )

    def figure(self, name: str) -> float | None:
        """Read a limit in the unit of the kind; AlertRefusedError if it is none."""
        text, kind = self.cleaned_data[name], self.cleaned_data["kind"]
        about = ABOUT[kind]
        ignored = about.most is None or (
            name == "clear_limit" and kind not in CLOSING.split()
        )
        if not text or ignored:
            return None
        return read_span(text, name) if about.unit == "ms" else read_number(text, name)

    def milliseconds(self, name: str) -> int | None:
        """Read a span; None if the field is empty."""
        text = self.cleaned_data[name]
        return read_span(text, name) if text else None
