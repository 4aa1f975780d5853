"""The words of findings: the sentences of rules and the names of evidence.

Sentences are found by the rule's key and their name: `key.title`, `key.text`,
`key.advice`, or whatever else the rule calls them; the rule's own module has them.
Names of evidence stand under `seen.`.
"""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from dashboard.wording.words import Counted, Word

from .rules import RULES

STATE: Final = "state"

FINDINGS: Final[dict[str, Word]] = {
    **{
        f"{rule.key}.{name}": _(text)
        for rule in RULES
        for name, text in rule.says.items()
        if name != STATE
    },
    "seen.client_id": _("Client id"),
    "seen.connections": _("Connections"),
    "seen.shared_ids": _("Shared client ids"),
    "seen.owned_twice": _("Owned twice"),
    "seen.without_owner": _("Without owner"),
    "seen.topic": _("Topic"),
    "seen.topics": _("Topics"),
    "seen.members_with": _("Members with"),
    "seen.members_reading": _("Members that read"),
    "seen.members_told": _("Members that answered"),
    "seen.filtered_by": _("Broker filters by"),
    "seen.queues": _("Queues"),
    "seen.last_owner": _("Last owner"),
    "seen.waiting_ms": _("Waiting for"),
    "seen.free_by_at": _("Free by"),
    "seen.expected_owner": _("Expected owner"),
    "seen.held_by": _("Held by"),
    "seen.unlocked_ms": _("Without lock for"),
    "seen.waiting_messages": _("Messages waiting"),
    "seen.without_owner_ms": _("Without owner for"),
    "seen.held_twice_ms": _("Held twice for"),
    "seen.lost_messages": _("Messages lost"),
    "seen.most_in_one_queue": _("Most in one queue"),
    "seen.last_member_at": _("Last member seen"),
    "seen.not_pulled_ms": _("Last pull ago"),
    "seen.repeated_messages": _("Messages repeated"),
    "seen.went_back_at": _("Went back at"),
    "seen.watched_ms": _("Watched for"),
    "seen.member": _("Member"),
    "seen.blocking_offset": _("Blocking offset"),
    "seen.done_beyond": _("Done beyond it"),
    "seen.in_hand_ms": _("In hand for"),
    "seen.lag": _("Lag"),
    "seen.growth_rate": _("Growth per second"),
    "seen.in_rate": _("In/s"),
    "seen.out_rate": _("Out/s"),
    "seen.others_mean_lag": _("Mean lag of the others"),
    "seen.others_in_rate": _("In/s of the others"),
    "seen.dead_letters": _("Dead letters in an hour"),
    "seen.dead_letters_ever": _("Dead letters ever"),
    "seen.last_dead_letter_at": _("Last one seen"),
    "seen.sent_back": _("Sent back"),
    "seen.sent_back_rate": _("Sent back /s"),
    "seen.retry_lag": _("Waiting for a retry"),
    "seen.short_stays": _("Short stays"),
    "seen.last_to_leave": _("Last to leave"),
    "seen.most_moves": _("Most moves of a queue"),
    "seen.was": _("Before"),
    "seen.missed_at_most": _("Missed at most"),
    "seen.seen_at": _("Seen at"),
    "seen.members_concerned": _("Members concerned"),
    "seen.idle_members": _("Idle"),
    "seen.members": _("Members"),
    "seen.queues_of_largest_topic": _("Queues of the largest topic"),
    "seen.offsets_at_broker": _("Offsets at the broker"),
    "seen.messages_ever": _("Messages ever sent"),
    "since": _("since {time}"),
    "as_of": _("as of {time}, not checked since"),
    "rules.nothing": Counted(
        ngettext_lazy("{n} other rule found nothing.", "{n} other rules found nothing.")
    ),
    "rules.brokers": _("Not checked, needs {names}"),
    "rules.members": _("Not checked, needs an answer from {names}"),
    "rules.not_asked": _("Not checked, the members were not asked"),
    "rules.commits": _("Not checked, a queue with messages was never committed"),
    "rules.time": _("Not checked, the group has not been watched for long enough"),
    "rules.failed": _(
        "The rule “{title}” failed, which is a fault of RocketScope: {error}"
    ),
    "follows": _("Follows from: {title}"),
    "to_whatif": _("Compare in what-if"),
    "to_lab": _("Try it in lab {lab}"),
    "to_docs": _("RocketMQ's documentation"),
    "shown": Counted(
        ngettext_lazy("{n} queue of “{title}”", "{n} queues of “{title}”")
    ),
    "shown_first": _("the first {n} of {all} queues of “{title}”"),
    "shown_gone": _("“{title}” is not found any more; all queues are shown"),
    "shown_none": _("“{title}” names no queues; all queues are shown"),
    "show_all": _("Show all"),
    "show_queues": Counted(ngettext_lazy("Show the queue", "Show {n} queues")),
}

STATES: Final[dict[str, Word]] = {rule.key: _(rule.says[STATE]) for rule in RULES}
"""The worst finding of a group, in the short form for the list of groups."""
