"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/<group:group>/timeline/", pages.timeline, name="group_timeline"),
]
