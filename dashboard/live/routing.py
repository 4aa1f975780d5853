"""Addresses of websockets; sign-in and origin are checked by `config.asgi`."""

from __future__ import annotations

from django.urls import URLPattern, path

from .sockets import LiveSocket

websocket_urlpatterns: list[URLPattern] = [
    path("ws/live/", LiveSocket.as_asgi()),
]
