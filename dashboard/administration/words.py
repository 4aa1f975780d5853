"""What pages about changes are called, and how outcomes are worded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dashboard.gateway.configured import Kind

TITLES: Final[Mapping[tuple[Kind, str], Promise]] = {
    ("topic", "create"): _("New topic"),
    ("topic", "change"): _("Change a topic"),
    ("topic", "delete"): _("Delete a topic"),
    ("group", "create"): _("New group"),
    ("group", "change"): _("Settings of a group"),
    ("group", "delete"): _("Delete a group"),
    ("broker", "change"): _("Settings of a broker"),
    ("writing", "change"): _("Writing to a broker"),
    ("user", "create"): _("New user"),
    ("user", "change"): _("Change a user"),
    ("user", "delete"): _("Delete a user"),
    ("rule", "change"): _("Rules of a subject"),
}

STATES: Final[Mapping[str, Promise]] = {
    "done": _("done"),
    "failed": _("failed"),
    "ignored": _("taken, but not in effect"),
    "unknown": _("not known"),
    "partly": _("done in part"),
    "left_out": _("left out"),
}

OUTCOMES: Final[Mapping[str, Promise]] = {
    "done": _("Done everywhere, and read back."),
    "partly": _("Done in part: see which brokers have it."),
    "failed": _("Not done anywhere."),
    "refused": _("Nothing was changed: brokers had changed since the preview."),
    "unknown": _("It is not known what came of it: look at each broker."),
    "begun": _("It has begun; its end is not recorded yet."),
}
