"""Addresses below /clusters/<cluster>/."""

from __future__ import annotations

from typing import Final

from django.urls import path

from . import pages

CLIENT: Final = "clients/<group:client_id>/"

urlpatterns = [
    path("clients/", pages.clients, name="clients"),
    path("producers/", pages.client_producers, name="client_producers"),
    path(CLIENT, pages.client, name="client"),
    path(f"{CLIENT}running/", pages.client_running, name="client_running"),
    path(f"{CLIENT}stacks/", pages.client_stacks, name="client_stacks"),
    path(f"{CLIENT}ask-stacks/", pages.client_ask_stacks, name="client_ask_stacks"),
]
