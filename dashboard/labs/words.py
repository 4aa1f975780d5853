"""The texts of labs in the reader's language.

A step or claim is stored as its key and values; its English sentence comes from the lab
and is the message of the catalogs. Values that are words of the lab (what had just been
done, where a file was found) have an entry here; names, numbers and times stay as they
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from .catalogue import text_of

Word = str | Promise

EXPLANATIONS: Final[Mapping[str, Word]] = {
    "F1": _(
        "In a clustering group the queues of a topic are divided among the members, "
        "and each message goes to the one member that holds its queue. The group's "
        "progress is one offset per queue, kept by the broker."
    ),
    "F2": _(
        "In a broadcasting group nothing is divided: each member reads "
        "all queues and keeps its progress in a file on its own host. "
        "The broker does not know that progress, so what it reports for "
        "such a group is not lag."
    ),
    "F2b": _(
        "A broadcasting member depends on its offsets file. Here the "
        "file is kept, broken, deleted, and left behind on another host. "
        "Without any file the member starts at the end of each queue and "
        "never gets what came meanwhile."
    ),
    "F3": _(
        "Two broadcasting members on one host with one instance name "
        "have the same client id and share one offsets file. While one "
        "is away, the other advances the offsets in the file, and the "
        "first never sees what came meanwhile."
    ),
    "F3b": _(
        "Two processes with the same client id in a clustering group "
        "both find themselves at the same place in the sorted list and "
        "take the same share. Half of the queues are consumed twice, the "
        "other half by nobody."
    ),
    "F4": _(
        "A broker keeps only the newest subscription per group and "
        "topic. It filters by that one for all members, while the queues "
        "are divided among all of them. If each member subscribes to "
        "another tag, most messages reach nobody, and no error is shown."
    ),
    "F4b": _(
        "When the members of one group subscribe to different topics, "
        "each topic is divided among all of them, including those that "
        "do not read it. Half of each topic has no reader, and each "
        "heartbeat makes every member rebalance."
    ),
    "F5": _(
        "Each member computes its share by itself, from the sorted lists "
        "of members and queues. The division therefore depends on who is "
        "there, not on who came first; with more members than queues, "
        "the last members are idle."
    ),
    "F6": _(
        "The commit is the offset of the oldest message that is not "
        "finished. One message that hangs holds back the commit, however "
        "far the member has come, until flow control stops pulling. Once "
        "that message is finished, the commit jumps to the end."
    ),
    "F7": _(
        "Orderly members hold a lock at the broker for each queue. The "
        "locks of a member that dies stay for sixty seconds: its queues "
        "wait, then move, and the order of each key is kept."
    ),
    "F8": _(
        "A message on which the listener fails goes back to the broker "
        "and is delivered again after a delay that grows each time. "
        "After the last try it becomes a dead letter, which nobody "
        "consumes."
    ),
}

TAKES: Final[Mapping[str, Word]] = {
    "F4": _(
        "about 40 s, because the broker holds a pull that matches nothing for that long"
    ),
    "F7": _("about 70 s, because a lock at the broker lasts 60 s"),
    "F8": _(
        "about 100 s, because the delays before the retries are 10 s, 30 s and 1 min"
    ),
}
"""Why a lab takes long; the others take seconds."""

PARAMETERS: Final[Mapping[str, Word]] = {
    "members": _("Members"),
    "queues": _("Queues"),
    "messages": _("Messages"),
    "messages_per_tag": _("Messages per tag"),
    "messages_per_queue": _("Messages per queue"),
    "messages_per_key": _("Messages per key"),
    "heartbeats": _("Heartbeats"),
    "blocked": _("Message that hangs"),
    "retries": _("Retries"),
}

CASES: Final[Mapping[str, Word]] = {
    "kept": _("file kept"),
    "broken": _("file broken"),
    "deleted": _("file deleted"),
    "both_deleted": _("file and backup deleted"),
    "other_host": _("another host"),
    "both_broken": _("file and backup broken"),
}

FOUND_IN: Final[Mapping[str, Word]] = {
    "main": _("its file"),
    "backup": _("the backup"),
    "nowhere": _("no file"),
    "refused": _("files that cannot be read"),
}

FINDINGS: Final[Mapping[str, Word]] = {
    "broadcasting": _("progress is in files of the members; this is not lag"),
    "offsets_file_lost": _("a broadcasting member's offsets file was lost"),
    "shared_client_id": _("two members share a client id"),
    "inconsistent_subscriptions": _("members subscribe to different tags"),
    "different_topics": _("members subscribe to different topics"),
    "idle_members": _("members without a queue"),
    "stuck_commit": _("the commit of a queue does not move"),
    "lock_expired": _("a lock expired with its holder gone"),
    "dead_letters": _("messages among the dead letters"),
}

_VALUES: Final[Mapping[str, Mapping[str, Word]]] = {
    "case": CASES,
    "found_in": FOUND_IN,
}


def sentence(lab: str, key: str, params: Mapping[str, Any]) -> str:
    """Return a step or claim in words; raise ArgumentError for an unknown key."""
    text = gettext(text_of(lab, key))
    values = {name: _shown(name, value) for name, value in params.items()}
    if "parts" in params:
        values["division"] = division_text(params["parts"])
    return text.format_map(values)


def division_text(parts: Mapping[str, Sequence[int]]) -> str:
    """Write who holds which queues: `c1 0-7; c2 8-15; c3 nothing`."""
    return "; ".join(
        f"{member} {spans(numbers) or gettext('nothing')}"
        for member, numbers in parts.items()
    )


def spans(numbers: Sequence[int]) -> str:
    """Write ascending numbers as `0-5, 7`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in found)


def _shown(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    words = _VALUES.get(name)
    return words.get(value, value) if words and isinstance(value, str) else value
