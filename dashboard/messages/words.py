"""Words for what became of messages, and for the forms of a body."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from dashboard.wording.words import Counted, Word

STATES: Final[dict[str, Word]] = {
    "given_up": _("Given up"),
    "not_yet": _("Not yet"),
    "unknown": _("Unknown"),
    "passed": _("Passed"),
    "filtered": _("Filtered by tag"),
    "consumed": _("Consumed"),
}

ICONS: Final[dict[str, tuple[str, str]]] = {
    "given_up": ("crit", "crit"),
    "not_yet": ("warn", "timers"),
    "unknown": ("unk", "unk"),
    "passed": ("ok", "info"),
    "filtered": ("unk", "idle"),
    "consumed": ("ok", "ok"),
}
"""The level and the icon of each state."""

REASONS: Final[dict[str, Word]] = {
    "traced": _("its trace says so, at {time}"),
    "traced_by": _("its trace says so, at {time} by {client}"),
    "not_answered": _("the cluster did not answer: {error}"),
    "broadcasting": _("its members keep their own offsets (BROADCASTING)"),
    "pop": _("POP acknowledges messages one by one, which its offset does not show"),
    "dead": Counted(
        ngettext_lazy(
            "it is among its dead letters, after %d retry",
            "it is among its dead letters, after %d retries",
        )
    ),
    "retries": Counted(
        ngettext_lazy(
            "it failed %d time and waits to be tried again",
            "it failed %d times and waits to be tried again",
        )
    ),
    "expression": _("it filters by an expression, {expression}, which is not judged"),
    "tags": _("subscribes {expression}"),
    "filtered_since": _(
        "subscribes {expression} since {time}, after this message; what it subscribed "
        "before is not known"
    ),
    "nothing_committed": _("it has committed nothing on this queue yet"),
    "never_here": _("nobody is online, and nothing is committed on this queue"),
    "before": Counted(
        ngettext_lazy("%d message before it waits", "%d messages before it wait")
    ),
    "before_offline": Counted(
        ngettext_lazy(
            "%d message before it waits, and nobody is online",
            "%d messages before it wait, and nobody is online",
        )
    ),
    "no_unique_key": _(
        "its offset is past it, but without a unique key retries and dead letters of "
        "the message cannot be found"
    ),
    "after_retries": Counted(
        ngettext_lazy(
            "its offset is past it and past %d retry, and there is no dead letter; "
            "only a trace could say that it was consumed",
            "its offset is past it and past %d retries, and there is no dead letter; "
            "only a trace could say that it was consumed",
        )
    ),
    "not_watched": _(
        "its offset is past it, but RocketScope has not seen the group with members: "
        "it may have begun after this message"
    ),
    "watched_since": _(
        "its offset is past it, but the group has been seen only since {time}, after "
        "this message: it may have begun later"
    ),
    "moved": _("its offset is past it, but was moved by hand at {time}"),
    "nobody_online": _(
        "its offset is past it, but nobody is online who could tell what it subscribed"
    ),
    "subscribed_since": _(
        "its offset is past it, but it subscribed at {time}, after this message; an "
        "earlier filter may have left it out"
    ),
    "passed": _(
        "its offset is past it, and there is no retry and no dead letter; only a trace "
        "could say that it was consumed, as other tools can move offsets unseen"
    ),
}

FORMS: Final[dict[str, Word]] = {
    "text": _("Text"),
    "hex": _("Hex"),
}
