"""Words of ours and of RocketMQ's that pages explain where they stand.

`TERMS` are the words as headings write them, `MEANINGS` a sentence or two on each, by
the same keys; docs/glossary.md has them all. The tag `explain` and the function of that
name in `static/js/frame/terms.js` put the button beside a word, and every page has the
meanings once, in `templates/frame/terms.html`.
"""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from .words import Word

TERMS: Final[dict[str, Word]] = {
    "epoch": _("Epoch"),
    "skew": _("Skew"),
    "in_hand": _("In hand"),
    "reported": _("Reported"),
    "odd": _("Odd"),
}

MEANINGS: Final[dict[str, Word]] = {
    "epoch": _(
        "A span of time in which a group's members and queues stay the same. When a "
        "member joins or leaves, or queues come or go, the next epoch begins."
    ),
    "skew": _(
        "How unevenly a load is divided: that of the busiest member, or of a topic's "
        "busiest queue, divided by the mean. 1 is even; at 2 the busiest has twice its "
        "share."
    ),
    "in_hand": _(
        "Messages that a member has fetched and not committed yet: they wait in its "
        "memory, or are being consumed. They count as lag. If the member dies, their "
        "next owner gets them again."
    ),
    "reported": _(
        "Said by the members themselves, when they were asked. What no member reports "
        "is inferred from the strategy and the list of members, or assumed to be "
        "RocketMQ's default."
    ),
    "odd": _(
        "Queues left over when each member has its even share of a topic. AVG "
        "gives them to the same first members in every topic, so they add up. The "
        "number is the most that one member has; the one after the slash is the "
        "fewest possible."
    ),
}
