"""Addresses below /alerts/, which are about all clusters."""

from __future__ import annotations

from django.urls import path

from . import channel_pages

urlpatterns = [
    path("channels/", channel_pages.channels, name="alert_channels"),
    path("channels/new/", channel_pages.new, name="alert_channel_new"),
    path("channels/<int:pk>/", channel_pages.change, name="alert_channel"),
    path("channels/<int:pk>/test/", channel_pages.test, name="alert_channel_test"),
    path(
        "channels/<int:pk>/delete/", channel_pages.delete, name="alert_channel_delete"
    ),
]
