"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.cluster, name="cluster"),
    path("groups/", pages.groups, name="groups"),
]
