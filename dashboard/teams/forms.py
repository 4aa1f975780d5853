"""Forms of the pages of teams; `writes` checks what they send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from .writes import MAX_CONTACT, MAX_GROUPS, MAX_NAME, MAX_NOTE


class TeamForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=MAX_NAME)
    contact = forms.CharField(
        label=_("Contact"),
        max_length=MAX_CONTACT,
        required=False,
        help_text=_("An e-mail address, a link or the name of a chat."),
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=MAX_NOTE,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, *args: Any, **kw: Any) -> None:
        super().__init__(*args, **kw)
        _style(self)


class MemberForm(forms.Form):
    member = forms.CharField(label=_("User name"), max_length=150)

    def __init__(self, *args: Any, **kw: Any) -> None:
        super().__init__(*args, **kw)
        _style(self)


class GroupsForm(forms.Form):
    """A pattern, on one cluster or on every one."""

    cluster = forms.ChoiceField(label=_("Cluster"), required=False)
    groups = forms.CharField(label=_("Groups"), max_length=MAX_GROUPS)

    def __init__(self, *args: Any, clusters: Sequence[str], **kw: Any) -> None:
        super().__init__(*args, **kw)
        field = self.fields["cluster"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [("", _("every cluster")), *((each, each) for each in clusters)]
        self.fields["groups"].widget.attrs["placeholder"] = "payments-*"
        _style(self)


def _style(form: forms.Form) -> None:
    for field in form.fields.values():
        field.widget.attrs["class"] = "input"
