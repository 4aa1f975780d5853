"""Addresses below /reports/."""

from __future__ import annotations

from django.urls import path

from . import definition_pages, pages

urlpatterns = [
    path("", pages.reports, name="reports"),
    path("start/", pages.start, name="start_report"),
    path("warm/", pages.warm, name="warm_reports"),
    path("<int:pk>/", pages.report, name="report"),
    path("<int:pk>/status/", pages.status, name="report_status"),
    path("<int:pk>/cancel/", pages.cancel, name="cancel_report"),
    path("<int:pk>/figures/<slug:name>/", pages.figure, name="report_figure"),
    path(
        "<int:pk>/figures/<slug:name>/table/", pages.table_of_figure, name="report_twin"
    ),
    path("<int:pk>/report.<slug:form>", pages.download, name="report_download"),
    path("<int:pk>/files/<slug:form>", pages.kept_file, name="report_file"),
    path("<int:pk>/delete/", pages.delete, name="delete_report"),
    path("definitions/new/", definition_pages.new, name="new_report_definition"),
    path("definitions/<int:pk>/", definition_pages.change, name="report_definition"),
    path(
        "definitions/<int:pk>/run/",
        definition_pages.run_now,
        name="run_report_definition",
    ),
    path(
        "definitions/<int:pk>/delete/",
        definition_pages.delete,
        name="delete_report_definition",
    ),
]
