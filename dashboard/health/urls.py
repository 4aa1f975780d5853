"""Addresses for machines: alive, ready."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("healthz", pages.healthz, name="healthz"),
    path("readyz", pages.readyz, name="readyz"),
]
