"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("brokers/", pages.brokers, name="brokers"),
    path("broker-settings/", pages.broker_settings, name="broker_configuration"),
    path("name-servers/", pages.broker_nameservers, name="broker_nameservers"),
    path("brokers/<str:broker>/", pages.broker, name="broker"),
    path("brokers/<str:broker>/gone/", pages.broker_gone, name="broker-gone"),
]
