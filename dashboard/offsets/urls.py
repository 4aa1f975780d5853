"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/<group:group>/offsets/", pages.offsets, name="group_offsets"),
    path(
        "groups/<group:group>/offsets/apply/", pages.apply, name="group_offsets_apply"
    ),
    path(
        "groups/<group:group>/offsets/<int:pk>/",
        pages.change,
        name="group_offsets_change",
    ),
]
