"""Addresses below /views/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.saved_views, name="saved_views"),
    path("save/", pages.save, name="save_view"),
    path("<int:pk>/rename/", pages.rename, name="rename_view"),
    path("<int:pk>/share/", pages.share, name="share_view"),
    path("<int:pk>/delete/", pages.delete, name="delete_view"),
]
