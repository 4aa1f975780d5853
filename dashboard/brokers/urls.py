"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("brokers/<str:broker>/gone/", pages.broker_gone, name="broker-gone"),
]
