"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("hosted/", pages.groups, name="group_hosted"),
    path("hosted/new/", pages.add, name="group_hosted_add"),
    path("hosted/<group:group>/", pages.change, name="group_hosted_change"),
    path("hosted/<group:group>/remove/", pages.remove, name="group_hosted_remove"),
]
