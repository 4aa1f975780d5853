"""What the frame around every page needs: clusters, theme, zone, words for scripts."""

from __future__ import annotations

import time
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from dashboard.models import Cluster, Role

from .words import catalog

THEME_COOKIE: Final = "rocketscope_theme"
THEMES: Final = ("auto", "light", "dark")


def layout(request: HttpRequest) -> dict[str, Any]:
    """Give templates the frame's values; the clusters are only read when used."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    clusters = SimpleLazyObject(configured_clusters)
    return {
        "clusters": clusters,
        "first_cluster": lambda: clusters[0].name if clusters else "",
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "zone_name": timezone.get_current_timezone_name(),
        "zone_label": zone_label(),
        "default_zone": settings.TIME_ZONE,
        "server_now_ms": int(time.time() * 1000),
        "catalog": catalog,
        "Role": {role.value: role for role in Role},
    }


def configured_clusters() -> list[Cluster]:
    return list(Cluster.objects.filter(configured=True))


def zone_label() -> str:
    """Name the zone by its present distance from UTC: UTC, UTC+8, UTC-3:30."""
    offset = timezone.localtime().utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
