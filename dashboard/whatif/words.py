"""Words for the notes of a comparison, for options of strategies and for weights."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from dashboard.wording.words import Counted, Word

WHATIF: Final[dict[str, Word]] = {
    "member_not_there": _("{client_id} is not a member, so nothing changes for it"),
    "client_id_shared": _("{client_id} is listed {times} times: its shares overlap"),
    "lag_left_behind": Counted(
        ngettext_lazy(
            "{queues} queue would be dropped, with {lag} messages in it",
            "{queues} queues would be dropped, with {lag} messages in them",
        )
    ),
    "lag_left_behind_partly": Counted(
        ngettext_lazy(
            "{queues} queue would be dropped, with at least {lag} messages in it",
            "{queues} queues would be dropped, with at least {lag} messages in them",
        )
    ),
    "lag_left_behind_unknown": Counted(
        ngettext_lazy(
            (
                "{queues} queue would be dropped; how many messages wait in it "
                "is not known"
            ),
            (
                "{queues} queues would be dropped; how many messages wait in "
                "them is not known"
            ),
        )
    ),
    "topic_not_there": _("The group does not read topic {topic}"),
    "owners_unknown": Counted(
        ngettext_lazy(
            "It is not known who owns the only queue now: the numbers of moves leave "
            "it out",
            "It is not known who owns {queues} of the {all} queues now: the numbers of "
            "moves leave those out",
        )
    ),
    "rates_assumed": Counted(
        ngettext_lazy(
            "It is not known what arrives in the only queue",
            "It is not known what arrives in {queues} of the {all} queues: the mean of "
            "the others is taken for them, marked ≈, and how even the load is stays "
            "unknown",
        )
    ),
    "topics_partly_read": _(
        "Not every member reads {topics}: queues that a strategy gives "
        "to the others have no reader and count as without owner"
    ),
    "incomplete": _(
        "Not everything about this group is known. Queues that are not "
        "known now are divided as they were last seen, and nothing can "
        "be applied"
    ),
    "incomplete_brokers": _(
        "{brokers}: no full answer. Queues that are not known now are "
        "divided as they were last seen, and nothing can be applied"
    ),
    "incomplete_since": _(
        "{brokers}: no full answer since {since_at}. Queues that are not "
        "known now are divided as they were last seen, and nothing can "
        "be applied"
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
