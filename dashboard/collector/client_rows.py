"""Keeps the members of all groups as a document, encoded group by group.

A cluster has tens of thousands of members, of which few change between two sweeps. The
part of a group is made again only when something in it has changed, and the document,
which joins the parts, is written only when one of them has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from dashboard.live.broker_documents import ClientGroup, ClientRow, ClientsDocument
from dashboard.live.encoding import encode_to_keep
from rmqcore.model.snapshot import GroupSnapshot, MemberSnapshot

from .group_document import Sight

WRITE_AGAIN_MS: Final = 60_000
"""A document that does not change is written again after this: the cache may have
refused or forgotten it."""

ClientKey = tuple[str, int]
"""Client id, and the number of its connection to the group."""


@dataclass(slots=True)
class _Part:
    members: tuple[MemberSnapshot, ...]
    owned: Mapping[str, int]
    state: tuple[Any, ...]
    text: bytes
    """Its `ClientGroup`: rows are kept in this form alone, as few change."""

    def rows(self) -> dict[ClientKey, ClientRow]:
        """Return the rows as they were made last."""
        group: ClientGroup = orjson.loads(self.text)
        for row in group["members"]:
            if row["subscriptions"] is not None:
                # Pairs became lists; new rows are compared with these.
                row["subscriptions"] = [
                    (topic, by) for topic, by in row["subscriptions"]
                ]
        return {_key(row): row for row in group["members"]}


class ClientRows:
    """The members of the groups of one cluster, as last seen."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = {}
        self._earlier: dict[str, dict[ClientKey, ClientRow]] = {}
        self._changed = True
        self._ids: frozenset[str] | None = None
        """The ids of all clients, once asked for; None after a change."""
        self._written_ms = 0

    def restore(self, last: ClientsDocument | None) -> None:
        """Continue from what an earlier leader wrote: since when, and last reports."""
        for group in last["groups"] if last else ():
            self._earlier[group["group"]] = {_key(row): row for row in group["members"]}

    def take(self, sight: Sight) -> None:
        """Take in a new look at a group."""
        group = sight.group
        last = self._parts.get(group.name)
        if not group.members:
            self._drop(group.name)
            return
        # Two processes with one id are two owners of a queue that is counted once.
        rows = sight.ownership.rows
        # Not the Counter itself, which takes far more and is kept for each group.
        owned = dict(Counter(owner for row in rows for owner in set(row.owners)))
        state = (
            group.kind,
            group.subscriptions,
            sight.ownership.reason,
            # Not a set: an empty one takes 216 bytes.
            tuple(sorted(sight.hosted)),
        )
        if (
            last is not None
            and (last.members is group.members or last.members == group.members)
            and last.owned == owned
            and last.state == state
        ):
            return
        before = last.rows() if last else self._earlier.pop(group.name, {})
        seen = _rows(sight, owned, before)
        if last is not None and last.state == state and _same(seen, before):
            last.members, last.owned = group.members, owned
            return
        text = encode_to_keep(_group(sight, list(seen.values())))
        self._parts[group.name] = _Part(group.members, owned, state, text)
        self._change()

    def client_ids(self) -> frozenset[str]:
        """Return the ids of all clients, each once."""
        if self._ids is None:
            self._ids = frozenset(
                member.client_id
                for part in self._parts.values()
                for member in part.members
            )
        return self._ids

    def keep(self, names: Iterable[str]) -> None:
        """Forget the groups that are gone: all but those named."""
        for name in self._parts.keys() - set(names):
            self._drop(name)

    def document(self, cluster: str, now_ms: int) -> bytes | None:
        """Return the encoded `ClientsDocument`; None if the last one still holds."""
        if not self._changed and now_ms - self._written_ms < WRITE_AGAIN_MS:
            return None
        return orjson.dumps(
            {
                "cluster": cluster,
                "changed_at": now_ms,
                "groups": [
                    orjson.Fragment(self._parts[name].text)
                    for name in sorted(self._parts)
                ],
            }
        )

    def written(self, now_ms: int) -> None:
        """Take note that the document has been stored."""
        self._changed, self._written_ms = False, now_ms

    def _drop(self, name: str) -> None:
        if self._parts.pop(name, None) is not None:
            self._change()

    def _change(self) -> None:
        self._changed, self._ids = True, None


def _group(sight: Sight, rows: list[ClientRow]) -> ClientGroup:
    group, reason = sight.group, sight.ownership.reason
    return {
        "group": group.name,
        "kind": group.kind.value,
        "subscriptions": [(s.topic, s.sub_string) for s in group.subscriptions],
        "why": None if reason is None else reason.value,
        "members": rows,
    }


def _rows(
    sight: Sight, owned: Mapping[str, int], before: Mapping[ClientKey, ClientRow]
) -> dict[ClientKey, ClientRow]:
    times: Counter[str] = Counter()
    rows: dict[ClientKey, ClientRow] = {}
    for member in sight.group.members:
        key = (member.client_id, times[member.client_id])
        times[member.client_id] += 1
        rows[key] = _row(sight, member, key[1], owned, before.get(key))
    return rows


def _row(
    sight: Sight,
    member: MemberSnapshot,
    connection: int,
    owned: Mapping[str, int],
    before: ClientRow | None,
) -> ClientRow:
    subscriptions = (
        None
        if member.subscriptions is None
        else [(s.topic, s.sub_string) for s in member.subscriptions]
    )
    row: ClientRow = {
        "client_id": member.client_id,
        "address": member.address or None,
        "language": member.language or None,
        "version": member.version or None,
        "connection": connection,
        "queues": _queues(sight.group, sight, member, owned),
        "strategy": member.strategy,
        "subscriptions": subscriptions,
        "reported_at": member.answered_at_ms,
        "started_at": member.started_at_ms,
        "seen_at": before["seen_at"] if before else sight.taken_at_ms,
        "missing_since": member.missing_since_ms,
        "managed": member.client_id in sight.hosted,
    }
    if before is not None and member.answered_at_ms is None:
        # What it has reported about itself holds for as long as it is connected.
        for name in ("strategy", "subscriptions", "reported_at", "started_at"):
            row[name] = before[name]
    if before is not None and {**before, "reported_at": None} == {
        **row,
        "reported_at": None,
    }:
        return before
    return row


def _queues(
    group: GroupSnapshot, sight: Sight, member: MemberSnapshot, owned: Mapping[str, int]
) -> int | None:
    if sight.ownership.reason is not None or not group.queues:
        return None
    return owned.get(member.client_id, 0)


def _same(
    rows: Mapping[ClientKey, ClientRow], before: Mapping[ClientKey, ClientRow]
) -> bool:
    """Tell whether only the time of a report is new."""
    return rows.keys() == before.keys() and all(
        row is before[key] for key, row in rows.items()
    )


def _key(row: ClientRow) -> ClientKey:
    return row["client_id"], row["connection"]
