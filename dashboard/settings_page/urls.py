"""Addresses below /settings/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.show_settings, name="settings"),
]
