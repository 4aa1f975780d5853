"""The read-only page of settings."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.accounts.permissions import requires, user_of
from dashboard.models import Role

from .reads import shown_clusters, shown_settings


@require_safe
@requires(Role.VIEWER)
def show_settings(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "settings_page/show.html",
        {
            "settings": shown_settings(),
            "shown_clusters": shown_clusters(user_of(request)),
            "version": settings.VERSION,
        },
    )
