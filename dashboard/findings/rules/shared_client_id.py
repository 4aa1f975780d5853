"""Two processes have one client id (behaviour A5, A5b).

A broker lists both connections. In CLUSTERING both take the part of the first of the
two, so half is consumed twice and half by nobody; in BROADCASTING both write one
offsets file. A client that several brokers list is not such a case: only an id that one
broker lists twice counts.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.kinds import LISTED_TWICE
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "shared_client_id"
SEEN_FOR_MS: Final = 2_000
"""A connection that is being replaced is listed beside its successor for an instant."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for client ids that one broker lists more than once."""
    lasting = sorted(map(str, evidence.since.lasting(LISTED_TWICE, SEEN_FOR_MS)))
    if not lasting:
        return evidence.needs_brokers()
    members = evidence.group.members
    addresses = [m.address for m in members if m.client_id == lasting[0]]
    twice, unowned = evidence.rows_that("double"), evidence.rows_that("unowned")
    broadcasting = evidence.group.kind is GroupKind.BROADCASTING
    return Finding(
        KEY,
        "crit",
        text="broadcasting" if broadcasting else "text",
        values={
            "client_id": lasting[0],
            "processes": len(addresses),
            "ids": len(lasting),
        },
        evidence=(
            ("client_id", lasting[0]),
            ("connections", addresses),
            *((("shared_ids", len(lasting)),) if len(lasting) > 1 else ()),
            *((("owned_twice", len(twice)),) if twice else ()),
            *((("without_owner", len(unowned)),) if unowned else ()),
        ),
        queues=evidence.keys_of([*twice, *unowned]),
        members=tuple(lasting),
    )


SAYS: Final = {
    "state": _("Shared id"),
    "title": _("Two processes share a client id"),
    "text": _(
        "{processes} connections use the client id {client_id}. All of "
        "them take the share of the first: its queues are consumed more "
        "than once, and the shares of the others by nobody."
    ),
    "broadcasting": _(
        "{processes} connections use the client id {client_id}. They share one offsets "
        "file: what one consumes while the other is away, the other never sees."
    ),
    "advice": _(
        "Give each process its own instance name, or leave it at DEFAULT "
        "in a clustering group. If a client has just lost its network, "
        "the broker drops the old connection within two minutes."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    adds_up=(
        "processes",
        "connections",
        "ids",
        "shared_ids",
        "owned_twice",
        "without_owner",
    ),
)
