"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import files, pages, saved

urlpatterns = [
    path("groups/<group:group>/whatif/", pages.whatif, name="group_whatif"),
    path("groups/<group:group>/whatif/check/", pages.check, name="group_check"),
    path(
        "groups/<group:group>/whatif/export/",
        files.export,
        name="group_whatif_export",
    ),
    path("whatif/", pages.sheet, name="group_sheet"),
    path("whatif/export/", files.export_sheet, name="group_sheet_export"),
    path("scenarios/save/", saved.save, name="save_scenario"),
    path("scenarios/<int:pk>/", saved.change, name="change_scenario"),
]
