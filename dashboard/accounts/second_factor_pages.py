"""Setting up and removing one's own second factor; for admins, removing anybody's."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.models import Role, User

from .attempts import address_of
from .forms import ProveForm
from .half_signed_in import TYPED
from .permissions import requires, user_of
from .second_factor import (
    is_asked_of,
    is_due,
    may_have,
    new_secret,
    qr_code,
    remove,
    renew_recovery_codes,
    set_up,
    use_code,
)

SECONDS_TO_SET_UP: Final = 1800
_SALT: Final = "rocketscope.second-factor"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER, anywhere=True)
def second_factor(request: HttpRequest) -> HttpResponse:
    """Show one's own second factor; a POST sets it up, renews codes or removes it."""
    user = user_of(request)
    if not may_have(user):
        status = 400 if request.method == "POST" else 200
        return _page(request, user, {}, status)
    if is_asked_of(user):
        return _change(request, user)
    return _set_up(request, user)


def _set_up(request: HttpRequest, user: User) -> HttpResponse:
    # The secret is kept nowhere until a code shows that the app has it: reading a page
    # changes nothing. The form brings it back, signed for this user.
    secret = _secret_of(user, request.POST.get("secret", ""))
    form = _form(request, user)
    if secret and request.method == "POST" and form.is_valid():
        code, now = form.cleaned_data["code"], timezone.now()
        try:
            codes = set_up(user, secret, code, now=now)
        except ValidationError as error:
            form.add_error("code", error)
        else:
            return _codes(request, user, codes)
    secret = secret or new_secret()
    context = {
        "form": form,
        "secret": secret,
        "qr": qr_code(user, secret),
        "kept": signing.dumps([user.pk, secret], salt=_SALT),
    }
    return _page(request, user, context)


def _change(request: HttpRequest, user: User) -> HttpResponse:
    form = _form(request, user)
    if request.method == "POST" and form.is_valid():
        try:
            _use(request, user, form, timezone.now())
        except ValidationError as error:
            form.add_error("code", error)
        else:
            if request.POST.get("do") == "renew":
                return _codes(request, user, renew_recovery_codes(user))
            remove(user, by=user)
            messages.success(request, _("The second factor is removed."))
            return redirect("second_factor")
    return _page(request, user, {"form": form, "factor": user.second_factor})


@require_POST
@requires(Role.ADMIN)
def remove_of(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove somebody's second factor, who has lost the app and the codes."""
    user = get_object_or_404(User, pk=pk)
    if remove(user, by=user_of(request)):
        said = _("The second factor of %(name)s is removed.") % {"name": user}
        messages.success(request, said)
    return redirect("users")


def _use(request: HttpRequest, user: User, form: ProveForm, now: datetime) -> None:
    code = form.cleaned_data["code"]
    use_code(user, code, address=address_of(request), now=now)


def _form(request: HttpRequest, user: User) -> ProveForm:
    return ProveForm(
        request.POST or None,
        user=user,
        address=address_of(request),
        typed=request.session.get(TYPED, ""),
    )


def _secret_of(user: User, kept: str) -> str:
    try:
        user_id, secret = signing.loads(kept, salt=_SALT, max_age=SECONDS_TO_SET_UP)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(secret) if user_id == user.pk else ""


def _codes(request: HttpRequest, user: User, codes: list[str]) -> HttpResponse:
    return _page(request, user, {"codes": codes})


def _page(
    request: HttpRequest, user: User, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    # Whoever has to set it up first sees no names of clusters around the page.
    context["layout"] = "accounts/alone.html" if is_due(user) else "base.html"
    return render(request, "accounts/second_factor.html", context, status=status)
