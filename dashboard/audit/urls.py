"""Addresses below /audit/."""

from __future__ import annotations

from django.urls import path

from . import pages

urlpatterns = [
    path("", pages.audit, name="audit"),
    path("audit.<slug:form>", pages.export, name="audit_export"),
]
