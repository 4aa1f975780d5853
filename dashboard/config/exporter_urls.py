"""Every address of a web process that runs as an exporter: no pages, no REST."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

urlpatterns = [
    path("", include("dashboard.health.urls")),
    path("", include("dashboard.metrics.urls")),
]


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what there is, in words for whoever expected pages."""
    return HttpResponse(
        "This RocketScope runs as an exporter. It serves /metrics, /metrics/groups, "
        "/metrics/queues, /healthz and /readyz.\n",
        content_type="text/plain; charset=utf-8",
        status=404,
    )


handler404 = not_found
