"""Words for what a comparison remarks, for options of strategies and for weights."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.wording.words import Word

WHATIF: Final[dict[str, Word]] = {
    "member_not_there": _("{client_id} is not a member, so nothing changes for it"),
    "client_id_shared": _("{client_id} stands there {times} times: its parts overlap"),
    "lag_left_behind": _("{queues} queues would go, with {lag} messages in them"),
    "lag_left_behind_partly": _(
        "{queues} queues would go, with at least {lag} messages in them"
    ),
    "lag_left_behind_unknown": _(
        "{queues} queues would go; how many messages wait in them is not known"
    ),
    "topic_not_there": _("The group does not read topic {topic}"),
    "owners_unknown": _(
        "Who owns {queues} of the {all} queues now is not known, so what they would do "
        "is in no count of moves"
    ),
    "rates_assumed": _(
        "What arrives in {queues} of the {all} queues is not known: their load is "
        "taken as the mean of the others, marked ≈, and how even the load is stays "
        "unknown"
    ),
    "topics_partly_read": _(
        "Not every member reads {topics}: what a strategy gives to the others has no "
        "reader and counts as without owner"
    ),
    "incomplete": _(
        "Not everything of this group is known. Queues of which nothing is known now "
        "are divided as they stood last, and nothing can be applied"
    ),
    "incomplete_brokers": _(
        "{brokers}: no full answer. Queues of which nothing is known now are divided "
        "as they stood last, and nothing can be applied"
    ),
    "incomplete_since": _(
        "{brokers}: no full answer since {since_at}. Queues of which nothing is known "
        "now are divided as they stood last, and nothing can be applied"
    ),
    "no_members": _("The scenario has no members"),
    "no_queues": _("The group has no queues"),
    "refused": _("{message}"),
    "needs_options": _("needs {options}, which clients do not report"),
}

OPTIONS: Final[dict[str, Word]] = {
    "config": _("a list of queues per member"),
    "rooms": _("the machine rooms that may consume"),
    "queue_room": _("the machine room of each broker"),
    "client_room": _("the machine room of each member"),
    "inner": _("the strategy inside a room"),
    "virtual_nodes": _("virtual nodes"),
}

WEIGHINGS: Final[dict[str, Word]] = {
    "rate": _("messages per second"),
    "lag": _("lag"),
    "queues": _("the number of queues"),
}
