"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/<group:group>/", pages.allocation, name="group"),
    path("groups/<group:group>/members/", pages.members, name="group_members"),
]
