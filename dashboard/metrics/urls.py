"""Addresses that Prometheus scrapes."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("metrics", pages.own, name="metrics"),
    path("metrics/groups", pages.of_groups, name="group_metrics"),
    path("metrics/queues", pages.of_queues, name="queue_metrics"),
]
