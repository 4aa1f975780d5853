"""Every address of the web process; sockets are in `dashboard.live.routing`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dashboard.frame.catalogue import catalogue

from .addresses import LateURLs

cluster_urls: list[URLPattern | URLResolver] = [
    path("", include(f"dashboard.{feature}.urls"))
    for feature in (
        "overview",
        "brokers",
        "administration",
        "topics",
        "clients",
        "groups",
        "timeline",
        "whatif",
        "switching",
        "hosting",
        "messages",
        "offsets",
        "dead_letters",
        "alerts",
    )
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("dashboard.clusters.urls")),
    path("clusters/<str:cluster>/", include(cluster_urls)),
    path("words/<str:language>.<str:digest>.js", catalogue, name="catalogue"),
    path("", include("dashboard.search.urls")),
    path("", include("dashboard.teams.urls")),
    path("views/", include("dashboard.saved_views.urls")),
    path("timers/", include("dashboard.timers.urls")),
    path("labs/", include("dashboard.labs.urls")),
    path("reports/", include("dashboard.reports.urls")),
    path("alerts/", include("dashboard.alerts.channel_urls")),
    path("audit/", include("dashboard.audit.urls")),
    path("settings/", include("dashboard.settings_page.urls")),
    path("", include("dashboard.accounts.urls")),
    path("", include("dashboard.health.urls")),
    path("", include("dashboard.metrics.urls")),
    LateURLs("api/v1/", "dashboard.config.api", namespace="api"),
]

handler403 = "dashboard.frame.errors.refused"
handler404 = "dashboard.frame.errors.not_found"
handler500 = "dashboard.frame.errors.failed"
