"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("topics/", pages.topics, name="topics"),
    path("topics/<group:topic>/", pages.topic, name="topic"),
    path("topics/<group:topic>/traffic/", pages.traffic, name="topic_traffic"),
    path(
        "topics/<group:topic>/configuration/",
        pages.configuration,
        name="topic_configuration",
    ),
]
