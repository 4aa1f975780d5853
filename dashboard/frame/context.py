"""Context of the frame around every page: clusters, theme, zone, words' address."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from dashboard.accounts.preferences import THEME_COOKIE, THEMES
from dashboard.models import Role
from dashboard.wording.zones import zone_label

from .catalogue import catalogue_address
from .clusters import shown_clusters


def layout(request: HttpRequest) -> dict[str, Any]:
    """Give templates the frame's values; clusters are only read when used."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    clusters = SimpleLazyObject(lambda: shown_clusters(request.user))
    return {
        "clusters": clusters,
        "first_cluster": lambda: clusters[0].name if clusters else "",
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "zone_name": timezone.get_current_timezone_name(),
        "zone_label": zone_label(),
        "default_zone": settings.TIME_ZONE,
        "server_now_ms": int(time.time() * 1000),
        "catalogue_address": catalogue_address,
        "command": settings.COMMAND,
        "Role": {role.value: role for role in Role},
    }
