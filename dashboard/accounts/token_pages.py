"""Pages that list, make and revoke one's own tokens and, for admins, anybody's."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.models import Cluster, Role, Token, User

from .forms import TokenForm, primary_key
from .permissions import requires, user_of
from .tokens import TokenRefusedError, make_token, revoke_token, tokens_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
def own_tokens(request: HttpRequest) -> HttpResponse:
    """List one's own tokens; a POST makes one or revokes one."""
    return _answer(request, user_of(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def user_tokens(request: HttpRequest, pk: int) -> HttpResponse:
    """List anybody's tokens; a POST makes one or revokes one."""
    return _answer(request, get_object_or_404(User, pk=pk))


def _answer(request: HttpRequest, user: User) -> HttpResponse:
    if request.POST.get("revoke"):
        return _revoke(request, user)
    names = Cluster.objects.filter(configured=True).seen_by(user)
    clusters = list(names.values_list("name", flat=True))
    form = TokenForm(request.POST or None, user=user, clusters=clusters)
    secret = _made(request, user, form) if request.method == "POST" else ""
    if secret:
        form = TokenForm(None, user=user, clusters=clusters)
    context = {
        "owner": user,
        "tokens": tokens_of(user),
        "now": timezone.now(),
        "form": form,
        "secret": secret,
    }
    status = 422 if form.errors else 200
    return render(request, "accounts/tokens.html", context, status=status)


def _made(request: HttpRequest, user: User, form: TokenForm) -> str:
    if not form.is_valid():
        return ""
    data = form.cleaned_data
    try:
        _token, secret = make_token(
            user,
            name=data["name"],
            role=Role(data["role"]),
            clusters=data["clusters"],
            days=data["days"],
            by=user_of(request),
        )
    except TokenRefusedError as refusal:
        form.add_error(None, str(refusal))
        return ""
    return secret


def _revoke(request: HttpRequest, user: User) -> HttpResponse:
    pk = primary_key(request.POST["revoke"])
    token = get_object_or_404(Token.objects.filter(user=user), pk=pk)
    revoke_token(token, by=user_of(request))
    messages.success(request, _("“%(name)s” is revoked.") % {"name": token.name})
    return redirect(request.path)
