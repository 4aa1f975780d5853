"""Every address of the web process; sockets are in `dashboard.live.routing`."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, URLResolver, include, path, register_converter
from django.views.i18n import set_language

from dashboard.accounts import views as accounts
from dashboard.api.routes import api
from dashboard.views import (
    clusters,
    groups,
    health,
    hosted,
    labs,
    records,
    reports,
    scenarios,
    switching,
    timeline,
    timers,
    whatif,
    whatif_files,
)

from .addresses import GroupName

register_converter(GroupName, "group")

# /clusters/…
cluster_urls: list[URLPattern | URLResolver] = [
    path("", clusters.cluster, name="cluster"),
    path("groups/", clusters.groups, name="groups"),
    path("brokers/<str:broker>/gone/", clusters.broker_gone, name="broker-gone"),
    path("groups/<group:group>/", groups.allocation, name="group"),
    path("groups/<group:group>/members/", groups.members, name="group_members"),
    path("groups/<group:group>/timeline/", timeline.timeline, name="group_timeline"),
    path("groups/<group:group>/whatif/", whatif.whatif, name="group_whatif"),
    path("groups/<group:group>/whatif/check/", whatif.check, name="group_check"),
    path(
        "groups/<group:group>/whatif/export/",
        whatif_files.export,
        name="group_whatif_export",
    ),
    path("groups/<group:group>/switch/", switching.preview, name="group_switch"),
    path(
        "groups/<group:group>/switch/apply/", switching.apply, name="group_switch_apply"
    ),
    path("groups/<group:group>/changes/", switching.changes, name="group_changes"),
    path(
        "groups/<group:group>/changes/<int:pk>/", switching.change, name="group_change"
    ),
    path(
        "groups/<group:group>/changes/<int:pk>/undo/",
        switching.undo,
        name="undo_change",
    ),
    path("whatif/", whatif.sheet, name="group_sheet"),
    path("whatif/export/", whatif_files.export_sheet, name="group_sheet_export"),
    path("scenarios/save/", scenarios.save, name="save_scenario"),
    path("scenarios/<int:pk>/", scenarios.change, name="change_scenario"),
    path("hosted/", hosted.groups, name="group_hosted"),
    path("hosted/new/", hosted.add, name="group_hosted_add"),
    path("hosted/<group:group>/", hosted.change, name="group_hosted_change"),
    path("hosted/<group:group>/remove/", hosted.remove, name="group_hosted_remove"),
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
