"""The page of one user's roles on single clusters and groups."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dashboard.models import Cluster, Grant, Role, User

from .forms import GrantForm, primary_key
from .grants import GrantRefusedError, give, take
from .permissions import requires, user_of


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def user_rights(request: HttpRequest, pk: int) -> HttpResponse:
    """List a user's roles on clusters; a POST gives one or takes one."""
    user = get_object_or_404(User, pk=pk)
    if request.POST.get("take"):
        grant = get_object_or_404(
            Grant.objects.filter(user=user), pk=primary_key(request.POST["take"])
        )
        take(grant, by=user_of(request))
        messages.success(
            request,
            _("The role on %(cluster)s has been taken away.")
            % {"cluster": grant.cluster},
        )
        return redirect(request.path)
    configured = Cluster.objects.filter(configured=True)
    clusters = list(configured.values_list("name", flat=True))
    sent = request.POST if request.method == "POST" else None
    form = GrantForm(sent, clusters=clusters)
    if form.is_valid() and _given(request, user, form):
        messages.success(request, _("%(name)s is changed.") % {"name": user})
        return redirect(request.path)
    context = {"owner": user, "grants": user.grants.all(), "form": form}
    status = 422 if form.errors else 200
    return render(request, "accounts/rights.html", context, status=status)


def _given(request: HttpRequest, user: User, form: GrantForm) -> bool:
    data = form.cleaned_data
    try:
        give(
            user,
            role=Role(data["role"]),
            cluster=data["cluster"],
            groups=data["groups"],
            by=user_of(request),
        )
    except GrantRefusedError as refusal:
        form.add_error(None, str(refusal))
        return False
    return True
