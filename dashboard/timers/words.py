"""Words for the timers and for how their slots went."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.wording.words import Word

TIMERS: Final[dict[str, Word]] = {
    "rebalance": _("Rebalance"),
    "renew_locks": _("Renew locks"),
    "persist_offsets": _("Persist offsets"),
    "heartbeat": _("Heartbeat"),
    "refresh_routes": _("Refresh routes"),
    "expire_stuck": _("Expire stuck messages"),
}

SLOTS: Final[dict[str, Word]] = {
    "on_time": _("on time"),
    "late": _("late"),
    "partly": _("failed for some members"),
    "failed": _("failed"),
    "skipped": _("skipped, the last one still ran"),
    "missing": _("not run"),
    "made_up": _("made up by the worker itself"),
}
