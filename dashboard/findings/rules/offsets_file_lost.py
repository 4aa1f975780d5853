"""A broadcasting member lost its offsets file, or fell back to an older one (A6, D2).

Without a file it starts at the tail, and messages that came while it was away are lost
to it. From the backup it continues, and repeats the messages between the two writes.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "offsets_file_lost"


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Report the newest loss of the last minutes."""
    if not evidence.file_losses:
        return None
    loss = evidence.file_losses[-1]
    clients = sorted({each.client_id for each in evidence.file_losses})
    harmless = loss.messages == 0
    counted = "repeated_messages" if loss.kind == "older" else "missed_at_most"
    return Finding(
        KEY,
        "info" if harmless else "warn",
        text=loss.kind,
        advice="older_advice" if loss.kind == "older" else "advice",
        values={
            "member": loss.client_id,
            "before": loss.before or "",
            "messages": loss.messages if loss.messages is not None else "?",
        },
        evidence=(
            ("member", loss.client_id),
            *((("was", loss.before),) if loss.before else ()),
            ("queues", len(loss.queues)),
            *(((counted, loss.messages),) if loss.messages is not None else ()),
            ("seen_at", loss.at_ms),
            *((("members_concerned", len(clients)),) if len(clients) > 1 else ()),
        ),
        queues=evidence.still_there(loss.queues),
        members=tuple(clients),
    )


SAYS: Final = {
    "state": _("Place lost"),
    "title": _("A member lost its place"),
    "lost": _(
        "{member} came back without its offsets file. By default it then "
        "starts at the tail and never gets what came while it was away. "
        "Messages missed, at most: {messages}."
    ),
    "moved": _(
        "{member} took the place of {before} on another host, where "
        "there is no offsets file. By default it then starts at the "
        "tail. Messages missed, at most: {messages}."
    ),
    "older": _(
        "{member} came back at an earlier offset, from the backup of its "
        "offsets file or from an older copy. Messages that it consumes "
        "again: {messages}."
    ),
    "advice": _(
        "Keep the directory of the offsets files (.rocketmq_offsets) on a disk that "
        "outlives the process, or let members start at the first offset or a time."
    ),
    "older_advice": _(
        "The file was broken or deleted, or the process was killed "
        "before it wrote the file. Repeats are harmless if the listener "
        "is idempotent."
    ),
}

RULE: Final = Rule(KEY, check, SAYS)
