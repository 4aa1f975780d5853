"""Words for epochs, for their causes, and for what happened to a queue."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from dashboard.wording.words import Counted, Word

CHANGES: Final[dict[str, Word]] = {
    "first_seen": _("first seen, members: {members}"),
    "member_joined": _("{joined} joined, members: {members_before} → {members}"),
    "member_left": _("{left} left, members: {members_before} → {members}"),
    "members_changed": _("{joined} joined, {left} left"),
    "queues_changed": _("the queues changed, they are {queues} now"),
    "strategy_changed": _("a member changed its strategy"),
    "options_changed": _("the options of its strategy changed"),
    "subscription_changed": _("a member changed its subscription"),
}

EPOCHS: Final[dict[str, Word]] = {
    "first_seen": _("first seen"),
    "member_joined": _("member joined"),
    "member_left": _("member left"),
    "members_changed": _("members changed"),
    "queues_changed": _("queues changed"),
    "strategy_changed": _("strategy changed"),
    "options_changed": _("options changed"),
    "subscription_changed": _("subscription changed"),
    "lock_lost": _("lock lost"),
}

NOTES: Final[dict[str, Word]] = {
    "member_joined": _("{joined} joined"),
    "member_left": _("{left} left"),
    "members_changed": _("{joined} joined, {left} left"),
    "missing": _("{broker} missing"),
    "silent": _("{broker} does not answer"),
    "partial": _("{broker} answers in part"),
    "slave": _("{broker}: a slave answers"),
    "moved": Counted(ngettext_lazy("{n} queue moved", "{n} queues moved")),
    "several": Counted(ngettext_lazy("{n} change in {span}", "{n} changes in {span}")),
    "members": Counted(ngettext_lazy("{n} member", "{n} members")),
    "so": _("{what}, {moved}"),
}
"""What happened, in the few words for which a picture has room; others are EPOCHS."""

EVENTS: Final[dict[str, Word]] = {
    "moved": _("moved"),
    "taken": _("taken by"),
    "lost": _("left without owner"),
    "double": _("owned twice"),
    "settled": _("owned once again"),
}
