"""Addresses below /timers/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.timers, name="timers"),
]
