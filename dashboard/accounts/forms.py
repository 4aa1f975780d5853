"""Forms of the account pages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm
from django.http import Http404, HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.models import NO_ROLE, Grant, Role, User
from dashboard.models.audit import SIGN_IN

from . import directory
from .attempts import address_of, record_refusal
from .identities import NotLetInError, let_in
from .outside import Directory, Person
from .second_factor import is_of_directory
from .throttle import SignInThrottle
from .tokens import LONGEST_NAME

logger = logging.getLogger(__name__)

_NONE: Final = "none"
"""How forms write `NO_ROLE`; a form without a role is refused."""
ROLES: Final = [*Role.choices, (_NONE, _("On clusters only"))]
MOST_DIGITS: Final = 18
"""Of a row's number: more do not fit into the database's."""
MOST_CODE_CHARS: Final = 40
BODIES: Final[dict[str, bool | None]] = {"": None, "yes": True, "no": False}


def _role(written: str) -> str:
    return NO_ROLE if written == _NONE else written


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
            self._identify()
        except forms.ValidationError:
            throttle.failed()
            record_refusal(SIGN_IN, self.cleaned_data.get("username", ""), address)
            raise
        throttle.forget()
        return self.cleaned_data

    def _identify(self) -> None:
        """Find out who signs in: here first, so that an admin of ours always can."""
        name = self.cleaned_data.get("username")
        password = self.cleaned_data.get("password")
        if not name or not password:
            return
        user = None
        if settings.ROCKETSCOPE_SIGN_IN_PASSWORDS:
            user = authenticate(self.request, username=name, password=password)
        if user is None and settings.ROCKETSCOPE_LDAP is not None:
            user = self._of_directory(settings.ROCKETSCOPE_LDAP, name, password)
        if user is None:
            raise self.get_invalid_login_error()
        self.confirm_login_allowed(user)
        self.user_cache = user

    def _of_directory(self, asked: Directory, name: str, password: str) -> User | None:
        person = _asked_at(asked, name, password)
        try:
            return None if person is None else let_in(person)
        except NotLetInError as error:
            logger.info("sign-in by the directory refused: %s", error)
            words = gettext(
                "%(directory)s knows you as %(name)s, but none of your groups has a "
                "right in RocketScope, or an admin has disabled your account."
            )
        raise forms.ValidationError(words % {"directory": asked.name, "name": name})


def _asked_at(asked: Directory, name: str, password: str) -> Person | None:
    """Return whose password it is at the directory; refuse it while that is away."""
    try:
        return directory.identify(asked, name, password)
    except directory.DirectoryAwayError as error:
        logger.warning("the directory cannot be asked: %s", error)
        words = gettext(
            "%(directory)s does not answer. Until it does, only passwords kept "
            "here are accepted, and this is not one of them. The reason is in the "
            "log of the web process."
        )
        raise forms.ValidationError(words % {"directory": asked.name}) from error


class CodeForm(forms.Form):
    """A code of the second factor."""

    code = forms.CharField(label=_("Code"), max_length=MOST_CODE_CHARS)

    def __init__(self, *args: Any, **kw: Any) -> None:
        super().__init__(*args, **kw)
        attrs = {"class": "input", "autocomplete": "one-time-code"}
        self.fields["code"].widget.attrs.update(attrs)


class ProveForm(CodeForm):
    """The password and a code, by a user who is signed in.

    The password is counted like one on the sign-in page, the code by whoever uses it.
    `typed` is the name by which the directory knows somebody whose password is there.
    """

    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(
            attrs={"class": "input", "autocomplete": "current-password"}
        ),
    )
    field_order = ("password", "code")

    def __init__(
        self,
        *args: Any,
        user: User | None = None,
        address: str = "",
        typed: str = "",
        **kw: Any,
    ) -> None:
        super().__init__(*args, **kw)
        self._user, self._address, self._typed = user, address, typed

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        assert self._user is not None  # noqa: S101 - who sends it is signed in
        name = self._typed or self._user.get_username()
        throttle = SignInThrottle(name, self._address)
        throttle.check()
        try:
            is_right = _is_password_of(self._user, name, password)
        except forms.ValidationError:
            throttle.failed()
            raise
        if not is_right:
            throttle.failed()
            raise forms.ValidationError(_("The password is wrong."))
        throttle.forget()
        return password


def _is_password_of(user: User, name: str, password: str) -> bool:
    """Tell whether a password is a user's: here, or at the directory that has it."""
    asked = settings.ROCKETSCOPE_LDAP
    if asked is None or not is_of_directory(user):
        return user.check_password(password)
    person = _asked_at(asked, name, password)
    identity = user.identity
    return person is not None and (person.issuer, person.subject) == (
        identity.issuer,
        identity.subject,
    )


class AddUserForm(forms.ModelForm):  # type: ignore[type-arg]
    role = forms.TypedChoiceField(choices=ROLES, coerce=_role)

    class Meta:
        model = User
        fields = ("username", "role")

    def __init__(self, *args: Any, **kw: Any):
        super().__init__(*args, **kw)
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"


class ChangeUserForm(forms.Form):
    role = forms.TypedChoiceField(choices=ROLES, coerce=_role)
    is_active = forms.BooleanField(required=False)
    bodies = forms.ChoiceField(choices=[(key, key) for key in BODIES], required=False)

    @property
    def sees_bodies(self) -> bool | None:
        """The right to see bodies of messages; None where the role decides."""
        return BODIES[self.cleaned_data["bodies"]]


class TokenForm(forms.Form):
    """What a token is for; no chosen cluster means all that its user sees."""

    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME)
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)
    clusters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple
    )
    days = forms.TypedChoiceField(
        label=_("Lasts"),
        coerce=lambda text: int(text) if text else None,
        empty_value=None,
        choices=[
            ("90", _("90 days")),
            ("7", _("7 days")),
            ("365", _("365 days")),
            ("", _("does not expire")),
        ],
        required=False,
    )

    def __init__(
        self, *args: Any, user: User, clusters: Sequence[str], **kw: Any
    ) -> None:
        super().__init__(*args, **kw)
        roles = [role for role in Role if user.allows_somewhere(role)]
        _offer(self, "role", [(role.value, role.label) for role in roles])
        _offer(self, "clusters", [(name, name) for name in clusters])
        for name in ("name", "role", "days"):
            self.fields[name].widget.attrs["class"] = "input"


class GrantForm(forms.ModelForm):  # type: ignore[type-arg]
    """A role on a cluster, or on those of its groups that match a pattern."""

    cluster = forms.ChoiceField(label=_("Cluster"))
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)

    class Meta:
        model = Grant
        fields = ("cluster", "groups", "role")
        labels: ClassVar = {"groups": _("Groups")}

    def __init__(self, *args: Any, clusters: Sequence[str], **kw: Any) -> None:
        super().__init__(*args, **kw)
        _offer(self, "cluster", [(name, name) for name in clusters])
        for field in self.fields.values():
            field.widget.attrs["class"] = "input"
        self.fields["groups"].widget.attrs["placeholder"] = "payments-*"


def primary_key(text: str) -> int:
    """Return the number of a row; raise Http404 for what cannot be one."""
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise Http404(text[:40])
    return int(text)


def _offer(form: forms.BaseForm, name: str, choices: list[tuple[str, Any]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
    field.choices = choices
