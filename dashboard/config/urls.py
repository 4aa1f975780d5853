"""Every address of the web process; sockets are in `dashboard.live.routing`."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from dashboard.accounts import views as accounts
from dashboard.api.routes import api
from dashboard.views import (
    clusters,
    groups,
    health,
    labs,
    records,
    reports,
    timers,
    whatif,
)

# /clusters/…
cluster_urls: list[URLPattern | URLResolver] = [
    path("", clusters.cluster, name="cluster"),
    path("groups/", clusters.groups, name="groups"),
    path("groups/<str:group>/", groups.allocation, name="group"),
    path("groups/<str:group>/members/", groups.members, name="group_members"),
    path("groups/<str:group>/whatif/", whatif.whatif, name="group_whatif"),
]

# /account/…
account_urls: list[URLPattern | URLResolver] = [
    path("", accounts.account, name="account"),
    path("users/", accounts.users, name="users"),
    path("users/<int:pk>/", accounts.change, name="change_user"),
    path("users/<int:pk>/link/", accounts.make_link, name="make_link"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", clusters.home, name="home"),
    path("clusters/<str:cluster>/", include(cluster_urls)),
    path("timers/", timers.timers, name="timers"),
    path("labs/", include(labs.urls)),
    path("reports/", include(reports.urls)),
    path("audit/", records.audit, name="audit"),
    path("settings/", records.show_settings, name="settings"),
    path("account/", include(account_urls)),
    path("preferences/", accounts.preferences, name="preferences"),
    path("language/", set_language, name="language"),
    path("sign-in/", accounts.SignIn.as_view(), name="sign_in"),
    path("sign-in/<str:token>/", accounts.sign_in_link, name="sign_in_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("api/v1/", api.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]

handler403 = "dashboard.views.errors.refused"
handler404 = "dashboard.views.errors.not_found"
handler500 = "dashboard.views.errors.failed"
