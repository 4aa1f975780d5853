"""The one Django app; its rooms are plain packages, see `docs/architecture.md`."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class DashboardConfig(AppConfig):
    name = "dashboard"
    label = "dashboard"
    verbose_name = "RocketScope"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # No setting is read here: processes are forked after this (`supervisor`).
        from dashboard.config.words import bring_words_together
        from dashboard.gateway.clusters import sync_clusters_after_migrate

        bring_words_together()
        post_migrate.connect(sync_clusters_after_migrate, sender=self)
