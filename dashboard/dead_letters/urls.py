"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from django.urls import path

from . import pages, run_pages

urlpatterns = [
    path(
        "groups/<group:group>/dead-letters/",
        pages.dead_letters,
        name="group_dead_letters",
    ),
    path(
        "groups/<group:group>/dead-letters/bodies/",
        pages.bodies,
        name="group_dead_letters_bodies",
    ),
    path(
        "groups/<group:group>/dead-letters/resend/",
        run_pages.resend,
        name="group_dead_letters_resend",
    ),
    path(
        "groups/<group:group>/dead-letters/runs/<int:pk>/",
        run_pages.run,
        name="group_dead_letters_run",
    ),
    path(
        "groups/<group:group>/dead-letters/runs/<int:pk>/stop/",
        run_pages.stop,
        name="group_dead_letters_stop",
    ),
    path("groups/<group:group>/retries/", pages.retries, name="group_retries"),
]
