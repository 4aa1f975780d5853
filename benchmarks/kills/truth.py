"""What brokers say of a group at this moment, and whether documents say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.silence.judging import NEVER, is_whole
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import GroupSnapshot, OwnerSource

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Truth:
    """A group by the brokers' and the members' own word: members, and who holds what.

    `owners` has every queue; more than one owner, or none, is what members reported.
    """

    members: frozenset[str]
    owners: Mapping[QueueKey, tuple[str, ...]]

    @staticmethod
    def of(group: GroupSnapshot | None) -> Truth:
        """Read a snapshot that was taken with running info.

        Members that no broker lists are no members, however they are remembered.
        """
        if group is None:
            return Truth(frozenset(), {})
        members = frozenset(
            member.client_id
            for member in group.members
            if member.missing_since_ms is None
        )
        owners: dict[QueueKey, tuple[str, ...]] = {}
        for row, key in enumerate(group.queues.keys):
            told = group.owners.by_row[row] if group.owners.by_row else ()
            reported = group.owners.sources[row : row + 1] == (OwnerSource.REPORTED,)
            owners[key] = told if reported else ()
        return Truth(members, owners)

    def unsettled(self, wanted: int) -> Iterator[str]:
        """Yield what the group itself has yet to do: nothing a page could help."""
        if len(self.members) != wanted:
            yield f"{len(self.members)} members are connected, {wanted} are wanted"
        several = [key for key, owners in self.owners.items() if len(owners) != 1]
        if several or not self.owners:
            yield f"{len(several)} of {len(self.owners)} queues lack their one owner"


def faults_of_group(document: Document, truth: Truth, since_ms: int) -> Iterator[str]:
    """Yield what is wrong with a group's document.

    It is to be of a time after `since_ms`, to have no mark of something old, and to say
    what brokers say.
    """
    if document["taken_at"] <= since_ms:
        yield "the document is from before"
    if not is_whole(document):
        yield "something is marked as not of now"
    shown = frozenset(member["client_id"] for member in document["members"])
    if shown != truth.members:
        yield f"members {sorted(shown)}, true {sorted(truth.members)}"
    if any(member.get("missing_since") for member in document["members"]):
        yield "a member is shown as missing"
    owners = {
        (queue["topic"], queue["broker"], queue["queue_id"]): tuple(queue["owners"])
        for queue in document["queues"]
    }
    if owners.keys() != truth.owners.keys():
        yield f"{len(owners)} queues, true {len(truth.owners)}"
    elif owners != dict(truth.owners):
        apart = sum(owners[key] != truth.owners[key] for key in owners)
        yield f"the owners of {apart} queues are not the true ones"
    wrong = NEVER & {finding["key"] for finding in document["findings"]}
    if wrong:
        yield f"findings {sorted(wrong)}"


def faults_of_overview(
    document: Document, truths: Mapping[str, Truth], since_ms: int
) -> Iterator[str]:
    """Yield what is wrong with the list of groups."""
    if document["taken_at"] <= since_ms:
        yield "the list is from before"
    if document.get("error"):
        yield f"the list says: {document['error']}"
    if not all(broker["answered"] for broker in document["brokers"]):
        yield "a broker is shown as silent"
    if not all(each["answered"] for each in document.get("nameservers") or ()):
        yield "a name server is shown as silent"
    rows = {row["group"]: row for row in document["groups"]}
    for name, truth in truths.items():
        row = rows.get(name)
        if row is None:
            yield f"{name} is not listed"
        elif row.get("complete") is False or row.get("as_of") is not None:
            yield f"{name} is marked as not of now"
        elif (row["members"], row["queues"]) != (
            len(truth.members),
            len(truth.owners),
        ):
            yield (
                f"{name} has {row['members']} members and {row['queues']} queues, "
                f"true {len(truth.members)} and {len(truth.owners)}"
            )


def faults_of_timeline(document: Document, truth: Truth) -> Iterator[str]:
    """Yield where a timeline says that a queue is held by another than it is now."""
    held = {}
    for lane in document["lanes"]:
        pieces = [each for each in lane["held"] if each["end"] is None]
        topic, broker, queue_id = lane["queue"]
        held[topic, broker, queue_id] = tuple(each["owner"] for each in pieces)
    apart = [key for key, owners in truth.owners.items() if held.get(key) != owners]
    if apart:
        yield f"the holders of {len(apart)} queues are not the true ones"
