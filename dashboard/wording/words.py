"""The words for keys in documents, and for scripts in the browser.

`SCRIPT_ROOMS` names the sections that scripts read; `dashboard.frame.catalogue` sends
them to browsers. Phrases that count things are `Counted`: gettext chooses their form.

This module has the words that several features use, and is the one place where all
words are looked up. Features have their own in `words.py`; `dashboard.config.words`
brings them together.

Documents hold keys, never text, so that two people can read one document in two
languages. A key without an entry is shown with spaces for its underscores: a plain
English key is better than a gap. Sentences take their values by name in braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy


@dataclass(frozen=True, slots=True)
class Counted:
    """A phrase whose form depends on a number; `forms` is an `ngettext_lazy`."""

    forms: Promise

    def form(self, number: int) -> str:
        """Return the form for a number, with its braces not filled yet."""
        return str(self.forms % number)


Word = str | Promise | Counted

_PLACE: Final = re.compile(r"\{(\w+)\}")

STATUS: Final[dict[str, Word]] = {
    "no_owner": _("No owner"),
    "owned_twice": _("Owned twice"),
    "falling_behind": _("Falling behind"),
    "stalled": _("Stalled"),
    "lost_messages": _("Lost messages"),
    "catching_up": _("Catching up"),
    "healthy": _("Healthy"),
    "unknown": _("Unknown"),
    "stale": _("Stale"),
    "no_members": _("No members"),
    "not_measured": _("Not measured"),
    "shared": _("Shared"),
    "idle": _("Idle"),
}

KINDS: Final[dict[str, Word]] = {
    "owned": _("one owner per queue"),
    "shared_pop": _("shared (POP)"),
    "assigned_by_hand": _("assigned by hand"),
    "broadcasting": _("broadcasting"),
    "mixed": _("clustering and broadcasting"),
    "offline": _("offline"),
}

KIND_SENTENCES: Final[dict[str, Word]] = {
    "shared_pop": _(
        "The members share every queue (POP): the broker hands out messages one by "
        "one, no queue has an owner, and none is missing one."
    ),
    "assigned_by_hand": _(
        "The members were assigned their queues by hand; RocketMQ divides nothing "
        "here, so no queue counts as missing an owner."
    ),
    "broadcasting": _(
        "BROADCASTING: every member has all queues and consumes every message. "
        "Progress is kept in files of the members; the broker knows nothing of it, so "
        "no lag is shown."
    ),
    "mixed": _(
        "The members of this group, or its brokers, disagree: some say "
        "CLUSTERING, some BROADCASTING. Which member holds which queue "
        "then follows no rule, so no owners and no lag are shown."
    ),
    "offline": _(
        "Nobody is online in this group. The queues wait with the lag "
        "shown; members that join will get them."
    ),
}

IDLE: Final[dict[str, Word]] = {
    "more_members_than_queues": _("idle: there are more members than queues"),
    "not_subscribed": _("idle: it does not subscribe to any topic of the group"),
    "no_queues": _("idle: the strategy gives it no queue"),
}

UNKNOWN: Final[dict[str, Word]] = {
    "not_asked": _("Not asked for"),
    "nothing_committed": _("The group has never committed an offset for this queue"),
    "expired": _("The committed offset is below the broker's minimum"),
    "not_listed": _("The broker does not list this"),
    "no_answer": _("No answer in time"),
    "busy": _("The broker said that it is busy, so it is not asked again for a while"),
    "denied": _("The broker refused the credentials"),
    "refused": _("The broker answered with an error"),
    "unreadable": _("The answer could not be read"),
    "offline": _("No member of the group is online"),
    "shared": _("Queues of this group have no single owner"),
    "unknown_strategy": _("The members divide by a rule that cannot be simulated"),
    "mixed": _("Members report different values"),
    "not_read": _("No member of the group subscribes to this topic any more"),
    "no_owner": _("No owner to ask"),
    "no_rate": _("Nobody consumes this queue, so there is no rate to divide by"),
    "broadcasting": _("Kept in files of the members; the broker does not know"),
    "first_sample": _("A second sample is needed"),
    "not_every_load": _("Needs the load and the owner of every queue"),
    "missing": _("The name servers do not list its broker any more"),
    "not_every_queue": _("Needs the lag and the owner of every queue"),
    "no_lag": _("Nothing waits, so there is nothing to compare"),
    "no_traffic": _("Nothing came in the last five minutes, or not all is known"),
    "no_property": _("The message does not say it"),
    "cause": _("No cause is known"),
    "not_seen": _("Nobody saw it begin, or it is longer ago than what is kept"),
}

BROKERS: Final[dict[str, Word]] = {
    "missing": _("missing"),
    "silent": _("no answer"),
    "partial": _("answers in part"),
    "slave": _("a slave answers"),
}

INTERFACE: Final[dict[str, Word]] = {
    "not_known": _("Not known"),
    "live": _("live"),
    "age": _("{age} ago"),
    "paused": _("paused"),
    "connecting": _("connecting"),
    "reconnecting": _("reconnecting, showing {time}"),
    "not_live": _("not live: {reason}"),
    "stale": _("stale since {time}"),
    "waiting": _("waiting for the first data"),
    "pause": _("Pause live updates (p)"),
    "resume": _("Resume live updates (p)"),
    "seconds": _("{seconds} s"),
    "minutes": _("{minutes} m {seconds} s"),
    "hours": _("{hours} h {minutes} m"),
    "days": _("{days} d {hours} h"),
    "ago": _("{span} ago"),
    "n_queues": Counted(ngettext_lazy("{n} queue", "{n} queues")),
    "queues_waiting": Counted(ngettext_lazy("{n} queue waiting", "{n} queues waiting")),
    "queues_none": _("every queue has one"),
    "queues_none_old": _("every queue has an owner, or had one at {time}"),
    "owned_unowned": _("{owned} owned · {unowned} waiting"),
    "all_owned": _("all owned"),
    "owned_known": _("{owned} owned, the others not known"),
    "of_queues": Counted(ngettext_lazy("{n} of {all} queue", "{n} of {all} queues")),
    "reported": _("reported"),
    "inferred": _("inferred"),
    "assumed": _("assumed"),
    "as_of": _("as of {time}"),
    "last_reported": _("last reported"),
    "last_inferred": _("last inferred"),
    "last_assumed": _("last assumed"),
    "expects": _("expects"),
    "owner_unknown": _("owner not known"),
    "reported_by": _("reported by {n} of {all}"),
    "hosted_here": _("hosted here"),
    "listener_busy": _("listener busy since {time}"),
    "connection": _("connection {n} of {all}"),
    "not_simulated": _("cannot be simulated"),
    "orderly": _("orderly"),
    "idle": _("idle"),
    "n_idle": _("{n} idle"),
    "show_all_queues": _("Show all {n} queues"),
    "n_missing": _("{n} missing"),
    "n_waiting": _("{n} waiting"),
    "n_fresh": _("{n} fresh"),
    "n_old": _("{n} stale"),
    "n_never": _("{n} never known"),
    "judged_on": Counted(
        ngettext_lazy("judged on {n} of {all} queue", "judged on {n} of {all} queues")
    ),
    "queues_known": Counted(
        ngettext_lazy("{n} of {all} queue known", "{n} of {all} queues known")
    ),
    "queues_fresh": Counted(
        ngettext_lazy("{n} of {all} queue fresh", "{n} of {all} queues fresh")
    ),
    "broker_had": _("{name} had {lag}"),
    "brokers_had": Counted(
        ngettext_lazy("{n} broker had {lag}", "{n} brokers had {lag}")
    ),
    "broker_only": _("{name} only"),
    "names_offered": Counted(ngettext_lazy("{n} name offered", "{n} names offered")),
    "of_brokers": Counted(ngettext_lazy("{n} of {all} broker", "{n} of {all} brokers")),
    "of_clusters": Counted(
        ngettext_lazy("{n} of {all} cluster", "{n} of {all} clusters")
    ),
    "epoch": _("Epoch"),
    "epoch_since": _("{number}, since {time}, {span}"),
    "epoch_held": _("{number}, since {time}, held"),
    "last_change": _("Last change"),
    "owners": _("Owners"),
    "owners_reported": _("as the members report, {n} of {all}"),
    "owners_inferred": _("computed from strategy and members"),
    "owners_assumed": _("computed with an assumed strategy"),
    "owners_old": Counted(
        ngettext_lazy("of {n} queue as of {time}", "of {n} queues as of {time}")
    ),
    "strategy": _("Strategy"),
    "consumes": _("Consumes"),
    "push": _("push"),
    "pull": _("pull"),
    "concurrently": _("concurrently"),
    "subscribes": _("Subscribes"),
    "brokers": _("Brokers"),
    "broker_answered": _("{name} answered"),
    "broker_missing": _("{name} missing"),
    "broker_silent": _("{name} does not answer"),
    "broker_partial": _("{name} answers in part"),
    "broker_slave": _("{name}: a slave answers"),
    "others_answered": Counted(
        ngettext_lazy("{n} other answered", "{n} others answered")
    ),
    "unlisted_since": _("unlisted since {time}"),
    "since_time": _("since {time}"),
    "for_good": _("Gone for good…"),
    "name_servers": _("Name servers"),
    "name_servers_answered": _("{n} of {all} answered"),
    "name_server_silent": _("{address} does not answer"),
    "name_server_silent_since": _("{address} has not answered since {time}"),
    "unlisted_by": _("{name} is unlisted by {n} of {all}"),
    "next": _("Expected"),
    "next_reaction": _(
        "members drop the queues of {names} by {time} (route refresh 30 s + "
        "rebalance 20 s)"
    ),
    "broker_missing_since": _(
        "{name} has been missing from the name servers since {time}"
    ),
    "broker_missing_now": _("{name} is missing from the name servers"),
    "broker_silent_since": _("{name} has not answered since {time}"),
    "broker_silent_now": _("{name} does not answer"),
    "broker_partial_since": _("{name} has answered only in part since {time}"),
    "broker_partial_now": _("{name} answers in part"),
    "broker_slave_since": _("{name}: a slave has answered in its place since {time}"),
    "broker_slave_now": _("{name}: a slave answers"),
    "for_span": _(" ({span})."),
    "full_stop": _("."),
    "banner_old": Counted(
        ngettext_lazy(
            "Its queue keeps the value of that moment, striped.",
            "Its {n} queues keep the values of that moment, striped.",
        )
    ),
    "banner_lag": _("Lag at that moment: {lag}."),
    "banner_never": Counted(
        ngettext_lazy(
            "Nothing was ever known about one of its queues.",
            "Nothing was ever known about {n} of its queues.",
        )
    ),
    "banner_answers": _("It still answers, so the values of its queues are fresh."),
    "banner_more": Counted(
        ngettext_lazy(
            "{n} more broker is listed under “What we know”.",
            "{n} more brokers are listed under “What we know”.",
        )
    ),
    "banner_part": _("Not everything about this group is known now."),
    "banner_held": _(
        "Status, findings and epoch are those of {time} until everything "
        "is known again, or until {until}."
    ),
    "banner_judged": _("Status and findings are judged by the queues that are known."),
    "fault": _("A fault of RocketScope, not of the group: {fault}."),
    "fault_rest": _(
        "This page shows what was known at {time}. The next look tries again; the "
        "group itself, other groups and the cluster's page are not affected."
    ),
    "stopped": _("stopped {time}"),
    "rules_stopped": _(
        "The rules were last checked at {time}. None has been checked since."
    ),
    "whatif_needs": Counted(
        ngettext_lazy(
            "needs its only queue, which is not known now",
            "needs all {all} queues; not known now: {n}",
        )
    ),
    "retry_lag": _("Retry lag"),
    "in_and_none_out": _("{value} in, 0 out"),
    "queue_names": _("Which queues"),
    "remove": _("Remove"),
    "one_consumer": _("one consumer"),
    "no_owner": _("No owner"),
    "messages_per_second": _("Msg/s"),
    "mean": _("mean {value}"),
    "lag": _("Lag"),
    "sum": _("sum"),
    "oldest": _("Oldest"),
    "in_per_second": _("In/s"),
    "out_per_second": _("Out/s"),
    "in_hand": _("In hand"),
    "member": _("Member"),
    "members": _("Members"),
    "queues": _("Queues"),
    "owner": _("Owner"),
    "minimum": _("Minimum"),
    "committed": _("Committed"),
    "maximum": _("Maximum"),
    "sampled": _("Sampled"),
    "moved": _("Moved"),
    "never": _("never"),
    "steady": _("steady"),
    "now": _("now"),
    "queues_worst_first": _("Queues, worst first"),
    "lag_between": _("lag in the last 15 minutes: {from} to {to}"),
    "last_15_minutes": _("the last 15 minutes, from 0"),
    "owner_since": _("Owner since"),
    "drains_in": _("Drains in"),
    "pulled": _("Pulled up to"),
    "client_id": _("Client id"),
    "topic": _("Topic"),
    "last_moves": _("Last changes of owner"),
    "no_moves": _("No change of owner is recorded."),
    "older_moves": _("{n} older ones are not listed."),
    "no_such_queue": _("The group does not have this queue now."),
    "loading": _("Loading…"),
    "not_answered": _("RocketScope did not answer. It is asked again."),
    "newest_messages": _("Newest messages of this queue"),
    "first_waiting": _("The first message that waits"),
    "move_offsets": _("Move the offset of this queue"),
    "span_selected": _("selected: {since} to {until}"),
    "timeline": _("Rebalance timeline"),
    "map_label": Counted(
        ngettext_lazy(
            "{queues} over {n} member; {unowned} without owner",
            "{queues} over {n} members; {unowned} without owner",
        )
    ),
    "map_label_old": Counted(
        ngettext_lazy(
            "{n} of them shows the value of {time}",
            "{n} of them show the value of {time}",
        )
    ),
    "values_of": _("values of {time}"),
    "missing_since": _("missing since {time}"),
    "lag_from": _("Lag 0"),
    "lag_to": _("100k+"),
    "lag_steps": _("(steps 100, 1k, 10k)"),
    "rate_from": _("In/s 0"),
    "rate_to": _("1k+"),
    "rate_steps": _("(steps 1, 10, 100)"),
    "age_from": _("Age 0"),
    "age_to": _("1 h+"),
    "age_steps": _("(steps 1 s, 10 s, 1 m, 10 m)"),
    "legend_moved": _("moved in the last rebalance"),
    "legend_none": _("no owner"),
    "legend_expected": _("expected owner"),
    "legend_idle": _("idle member"),
    "legend_twice": _("owned twice"),
    "legend_changes": _("would change owner"),
    "legend_old": _("last value, {time}"),
    "legend_old_bar": _("fresh, then stale (not in the ≥ sum)"),
    "legend_strips": _(
        "Here the hue shows lag and the row shows the owner: more than "
        "12 owners cannot each have a hue of their own."
    ),
    "legend_blocks": _("Number: queues. Click or Enter opens the block as cells."),
    "back_to_blocks": _("Back to all members"),
    "max_mean_lag": _("max / mean lag"),
    "mixed_since": _("Mixed strategies since {time}: {parts}."),
    "strategy_of": _("{n} × {name}"),
    "change": _("Change"),
    "explain": _("What “{name}” means"),
    "copy_name": _("Copy: {name}"),
    "copied": _("Copied: {text}"),
    "copy_selected": _(
        "The browser does not let this page copy. The text is selected: press Ctrl+C "
        "or ⌘C."
    ),
    "copy_refused": _("The browser does not let this page copy: {text}"),
    "link_copied": _("The link was copied to the clipboard."),
    "members_changed_meanwhile": _(
        "Members joined or left meanwhile. The page shows the newest state."
    ),
    "asked_add": _(
        "One more consumer was requested. It is shown here once it has joined."
    ),
    "asked_remove": _(
        "The removal of {name} was requested. This page shows when it has left."
    ),
    "action_failed": _("That did not work: {reason}"),
    "server_said": _("the server answered {status}"),
}

WORDS: Final[dict[str, dict[str, Word]]] = {
    "status": STATUS,
    "kind": KINDS,
    "kind_sentence": KIND_SENTENCES,
    "idle": IDLE,
    "unknown": UNKNOWN,
    "broker": BROKERS,
    "ui": INTERFACE,
}
"""By section, then by key; features add theirs with `add_words`."""

SCRIPT_ROOMS: Final = (
    "ui",
    "status",
    "kind",
    "kind_sentence",
    "idle",
    "unknown",
    "finding",
    "change",
    "term",
)
"""The sections that page scripts read; the others are only for templates."""


def add_words(rooms: Mapping[str, Mapping[str, Word]]) -> None:
    """Add the words of a feature, to existing sections or to new ones."""
    for room, words in rooms.items():
        WORDS.setdefault(room, {}).update(words)


def word(
    room: str, key: str | None, number: int | None = None, /, **values: Any
) -> str:
    """Return the text of a key; values fill its braces.

    `number` picks the form of a counted phrase, and is its `n` unless that is given.
    Braces within a value stay as they are: names are whatever people chose.
    """
    if not key:
        return ""
    found = WORDS[room].get(key, key.replace("_", " "))
    text = found.form(number or 0) if isinstance(found, Counted) else str(found)
    values = {"n": number, **values}

    def fill(place: re.Match[str]) -> str:
        value = values.get(place[1])
        if value is None:
            return place[0]
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    return _PLACE.sub(fill, text)


def plural(key: str, n: int, /, **values: Any) -> str:
    """Return the page's phrase for `n` things."""
    return word("ui", key, n, **values)
