"""Addresses below /labs/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.labs, name="labs"),
    path("<str:lab>/start/", pages.start, name="start_lab"),
    path("runs/<int:pk>/", pages.run, name="lab_run"),
    path("runs/<int:pk>/cancel/", pages.cancel, name="cancel_lab"),
]
