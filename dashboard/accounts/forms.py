"""Forms of the account pages."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest

from dashboard.models import Role, User
from dashboard.models.audit import SIGN_IN

from .attempts import address_of, record_refusal
from .throttle import SignInThrottle

BODIES: Final[dict[str, bool | None]] = {"": None, "yes": True, "no": False}


class SignInForm(AuthenticationForm):
    """User name and password, refused for a while after too many wrong ones."""

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kw: Any):
        super().__init__(request, *args, **kw)
        self.fields["username"].widget.attrs["class"] = "input"
        self.fields["password"].widget.attrs["class"] = "input"

    def clean(self) -> dict[str, Any]:
        address = address_of(self.request) if self.request else ""
        # The cleaned value, as it will be compared: `self.data` still has its padding.
        throttle = SignInThrottle(self.cleaned_data.get("username", ""), address)
        throttle.check()
        try:
            cleaned = super().clean()
        except forms.ValidationError:
            throttle.failed()
            record_refusal(SIGN_IN, self.cleaned_data.get("username", ""), address)
            raise
        throttle.forget()
        return cleaned


class AddUserForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kw: Any):
        super().__init__(*args, **kw)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"


class ChangeUserForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)
    is_active = forms.BooleanField(required=False)
    bodies = forms.ChoiceField(choices=[(key, key) for key in BODIES], required=False)

    @property
    def sees_bodies(self) -> bool | None:
        """The right to see bodies of messages; None where the role decides."""
        return BODIES[self.cleaned_data["bodies"]]
