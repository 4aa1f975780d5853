"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/<group:group>/switch/", pages.preview, name="group_switch"),
    path("groups/<group:group>/switch/apply/", pages.apply, name="group_switch_apply"),
    path("groups/<group:group>/changes/", pages.changes, name="group_changes"),
    path("groups/<group:group>/changes/<int:pk>/", pages.change, name="group_change"),
    path("groups/<group:group>/changes/<int:pk>/undo/", pages.undo, name="undo_change"),
]
