"""Words of topics: their states and kinds."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.wording.words import Word

TOPIC_STATES: Final[dict[str, Word]] = {
    "no_consumer": _("No consumer"),
    "hot_queue": _("Hot queue"),
    "filling": _("Dead letters come"),
    "brokers_differ": _("Brokers differ"),
    "half_known": _("Half known"),
    "healthy": _("Healthy"),
    "not_measured": _("Not measured"),
}

TOPIC_KINDS: Final[dict[str, Word]] = {
    "mixed_types": _("brokers differ"),
}
