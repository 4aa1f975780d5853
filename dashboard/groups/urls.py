"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("groups/<group:group>/", pages.allocation, name="group"),
    path("groups/<group:group>/queues/", pages.queues, name="group_queues"),
    path("groups/<group:group>/findings/", pages.findings, name="group_findings"),
    path("groups/<group:group>/members/", pages.members, name="group_members"),
]
