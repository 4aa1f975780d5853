"""Signing in and out, one's own account, the users, and preferences kept in cookies."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from zoneinfo import available_timezones

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    SetPasswordForm,
)
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.permissions import user_of
from dashboard.models import Role, User
from dashboard.models.audit import SIGN_IN, SIGN_OUT, USE_LINK

from .attempts import address_of, record_refusal, record_sign
from .forms import ROLES, AddUserForm, ChangeUserForm, SignInForm
from .half_signed_in import ask_for_code, remember
from .links import (
    SignInLinkError,
    lifetime,
    make_sign_in_token,
    owner_of_token,
    use_sign_in_token,
)
from .middleware import ZONE_COOKIE
from .permissions import requires
from .preferences import THEME_COOKIE, THEMES
from .provider_pages import ending_at_provider
from .redirects import back_to_next
from .second_factor import is_asked_of, may_have
from .second_factor_middleware import is_due_for
from .users import (
    LastAdminError,
    add_user,
    change_user,
    set_password,
)

COOKIE_SECONDS = 365 * 24 * 3600


class SignIn(LoginView):
    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if is_due_for(request):
            return redirect("second_factor")
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not _asks_for_passwords():
            raise PermissionDenied(_("Signing in with a password is switched off."))
        return super().post(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        wanted = self.get_redirect_url()
        query = f"?{urlencode({'next': wanted})}" if wanted else ""
        return {
            **super().get_context_data(**kwargs),
            "asks_for_passwords": _asks_for_passwords(),
            "passwords": settings.ROCKETSCOPE_SIGN_IN_PASSWORDS,
            "directory": settings.ROCKETSCOPE_LDAP,
            "provider": settings.ROCKETSCOPE_OIDC,
            "provider_address": reverse("provider_start") + query,
        }

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        assert isinstance(user, User)  # noqa: S101 - the only model of users
        typed = form.cleaned_data["username"]
        if is_asked_of(user):
            return ask_for_code(user, self.get_redirect_url(), typed)
        answer = super().form_valid(form)
        details = remember(self.request, user, typed)
        record_sign(SIGN_IN, self.request, details or None)
        return answer


class SignOut(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        ending: str | None = ""
        if request.user.is_authenticated:
            record_sign(SIGN_OUT, request)
            ending = ending_at_provider(request)
        answer = super().post(request, *args, **kwargs)
        if ending == "":
            return answer
        # A page and not a redirect: the policy lets forms lead nowhere but to us.
        context = {"ending": ending, "provider": settings.ROCKETSCOPE_OIDC}
        return render(request, "accounts/signed_out.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Ask the bearer of a one-time link to confirm, then let them in.

    Only the POST spends the link: mail scanners and previews of chats open links, too.
    """
    confirmed = request.method == "POST"
    try:
        if confirmed:
            user = use_sign_in_token(token, timezone.now(), address_of(request))
        else:
            user = owner_of_token(token, timezone.now())
    except SignInLinkError as error:
        record_refusal(USE_LINK, error.username, address_of(request))
        context = {"minutes": _minutes()}
        return render(request, "accounts/link_refused.html", context, status=403)
    if not confirmed:
        return render(request, "accounts/link_confirm.html", {"made_for": user})
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("home")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
def account(request: HttpRequest) -> HttpResponse:
    """Show one's own account; a user without a password may set one unasked."""
    user = user_of(request)
    if not _signs_in_here(user):
        if request.method == "POST":
            raise PermissionDenied(_("You have no password here."))
        return render(
            request, "accounts/account.html", {"may_have_factor": may_have(user)}
        )
    form_class = PasswordChangeForm if user.has_usable_password() else SetPasswordForm
    form = form_class(user, request.POST or None)
    for field in form.fields.values():
        field.widget.attrs["class"] = "input"
    if request.method == "POST" and form.is_valid():
        set_password(user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        messages.success(request, _("The password is set."))
        return redirect("account")
    context = {"form": form, "may_have_factor": may_have(user)}
    return render(request, "accounts/account.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def users(request: HttpRequest) -> HttpResponse:
    """List the users; a POST adds one and shows the link that lets them in."""
    form = AddUserForm(request.POST or None)
    link, added = "", None
    if request.method == "POST" and form.is_valid():
        added = add_user(
            form.cleaned_data["username"],
            form.cleaned_data["role"],
            by=user_of(request),
        )
        link = _link(request, added) if _signs_in_here(added) else ""
        form = AddUserForm()
    return render(
        request,
        "accounts/users.html",
        {
            "users": User.objects.select_related("identity", "second_factor").order_by(
                "username"
            ),
            "passwords": settings.ROCKETSCOPE_SIGN_IN_PASSWORDS,
            "roles": ROLES,
            "form": form,
            "link": link,
            "added": added,
            "minutes": _minutes(),
        },
    )


@require_POST
@requires(Role.ADMIN)
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a user's role and state."""
    user = get_object_or_404(User, pk=pk)
    form = ChangeUserForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("That role does not exist."))
        return redirect("users")
    try:
        change_user(
            user,
            role=form.cleaned_data["role"],
            is_active=form.cleaned_data["is_active"],
            sees_bodies=form.sees_bodies,
            by=user_of(request),
        )
    except LastAdminError:
        messages.error(request, _("There must be at least one active admin."))
    else:
        messages.success(request, _("%(name)s is changed.") % {"name": user})
    return redirect("users")


@require_POST
@requires(Role.ADMIN)
def make_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a sign-in link for a user and show it once."""
    user = get_object_or_404(User, pk=pk, is_active=True)
    if not _signs_in_here(user):
        raise PermissionDenied(
            _("%(name)s does not sign in here, so that a link is of no use.")
            % {"name": user}
        )
    return render(
        request,
        "accounts/link_made.html",
        {
            "link": _link(request, user),
            "made_for": user,
            "minutes": _minutes(),
        },
    )


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Keep theme and time zone in cookies, and return to the page that asked for it."""
    response = back_to_next(request, "home")
    theme, zone = request.POST.get("theme", ""), request.POST.get("zone", "")
    if theme in THEMES:
        _keep(response, THEME_COOKIE, theme)
    if zone in available_timezones():
        _keep(response, ZONE_COOKIE, zone)
    return response


def _keep(response: HttpResponse, name: str, value: str) -> None:
    """Set a cookie that the page's own scripts may read and write."""
    response.set_cookie(
        name,
        value,
        max_age=COOKIE_SECONDS,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _asks_for_passwords() -> bool:
    """Whether the sign-in page has a form: for passwords kept here, or elsewhere."""
    return bool(
        settings.ROCKETSCOPE_SIGN_IN_PASSWORDS or settings.ROCKETSCOPE_LDAP is not None
    )


def _signs_in_here(user: User) -> bool:
    """Whether a user may sign in with a password, or with a link to set one."""
    return settings.ROCKETSCOPE_SIGN_IN_PASSWORDS and not user.is_from_outside


def _minutes() -> int:
    return int(lifetime().total_seconds() // 60)


def _link(request: HttpRequest, user: User) -> str:
    token = make_sign_in_token(user, timezone.now(), made_by=user_of(request))
    return request.build_absolute_uri(reverse("sign_in_link", args=[token]))
