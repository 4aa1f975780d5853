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
    "half_known": _("Partly known"),
    "healthy": _("Healthy"),
    "not_measured": _("Not measured"),
}

TOPIC_KINDS: Final[dict[str, Word]] = {
    "mixed_types": _("brokers differ"),
}

REASONS: Final[dict[str, Word]] = {
    "groups_unsure": _("Whether a group reads this topic is not known now."),
    "ages_unsure": _("The age of some unread messages is not known"),
    "nothing_unread": _("Every group has read all messages"),
    "no_reader": _("No group reads it, so no group can miss a message"),
}

RETENTION: Final[dict[str, Word]] = {
    "at_most": _("at most {span}"),
    "age": _("{broker} keeps {kept}"),
    "age_at": _("{broker} keeps {kept} (deleteWhen {hour})"),
    "disk": _("then the disk of {broker} is too full"),
    "lost": _("{broker} has deleted messages that a group had not read"),
}
