"""The clients of a cluster: the members of all groups, by client id.

A client that is in several groups is one row. What is wrong with it is said with a
reason: an id that several processes share, and a version that is old.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from dashboard.live.broker_documents import ClientGroup, ClientRow, ClientsDocument
from dashboard.wording.numbers import clock
from dashboard.wording.words import word

Version = tuple[int, ...]

OLDEST: Final = "4.9.0"
"""Java clients before this release are called old unless the reader names another."""
COMPARED: Final = "JAVA"
"""Clients in other languages send version numbers that do not follow the releases."""

_VERSION: Final = re.compile(r"V?(\d+)[._](\d+)[._](\d+)(?:[_-]SNAPSHOT)?")


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know about a client: its kind, how bad it is, and a sentence."""

    kind: Literal["shared", "old", "missing"]
    level: Literal["crit", "warn", "info"]
    text: str


@dataclass(frozen=True, slots=True)
class Membership:
    """One connection of a client to one group."""

    group: ClientGroup
    row: ClientRow

    @property
    def topics(self) -> list[tuple[str, str]]:
        """What it subscribes to, by its own report, else what brokers hold."""
        own = self.row["subscriptions"]
        return self.group["subscriptions"] if own is None else own


@dataclass(slots=True)
class Client:
    """One client id with all of its connections."""

    client_id: str
    memberships: list[Membership] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(each.group["group"] for each in self.memberships))

    @property
    def hosts(self) -> list[str]:
        found = (host_of(each.row["address"]) for each in self.memberships)
        return sorted({host for host in found if host})

    @property
    def languages(self) -> list[str]:
        return sorted({each.row["language"] or "" for each in self.memberships} - {""})

    @property
    def versions(self) -> list[str]:
        found = {each.row["version"] or "" for each in self.memberships} - {""}
        return sorted(found, key=lambda text: version_of(text) or ())

    @property
    def releases(self) -> set[Version]:
        """The releases that are compared, those of its connections in Java."""
        return {v for e in self.memberships if (v := _compared(e.row)) is not None}

    @property
    def topics(self) -> list[str]:
        return sorted({topic for each in self.memberships for topic, _ in each.topics})

    @property
    def queues(self) -> int | None:
        """How many queues it owns in all groups; None where one is not known.

        Connections that share the id report the same queues: each group counts once.
        """
        by_group = {e.group["group"]: e.row["queues"] for e in self.memberships}
        counts = by_group.values()
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def why_queues(self) -> str:
        return next(
            (each.group["why"] for each in self.memberships if each.group["why"]),
            "not_asked",
        )

    @property
    def since(self) -> int:
        """When it started, by its own report, else when it was first seen."""
        return min(e.row["started_at"] or e.row["seen_at"] for e in self.memberships)

    @property
    def since_reported(self) -> bool:
        return all(each.row["started_at"] for each in self.memberships)


def clients_of(document: ClientsDocument, oldest: str = OLDEST) -> list[Client]:
    """Return all clients with what is to know about each."""
    clients: dict[str, Client] = {}
    for group in document["groups"]:
        for row in group["members"]:
            client_id = row["client_id"]
            client = clients.get(client_id)
            if client is None:
                client = clients[client_id] = Client(client_id)
            client.memberships.append(Membership(group, row))
        _note_group(group, clients)
    release = version_of(oldest) or version_of(OLDEST) or ()
    for client in clients.values():
        _note_client(client, release)
    return list(clients.values())


def version_of(text: str | None) -> Version | None:
    """Return the parts of a release such as `V5_3_1` or `5.3.1`, None for others."""
    found = _VERSION.fullmatch(text or "")
    return tuple(int(part) for part in found.groups()) if found else None


def written(version: Version) -> str:
    return ".".join(map(str, version))


def host_of(address: str | None) -> str:
    """Return the host of `host:port`: a client has a port for each broker."""
    return (address or "").rpartition(":")[0].removeprefix("/")


def _note_group(group: ClientGroup, clients: Mapping[str, Client]) -> None:
    members = group["members"]
    counts: dict[str, int] = {}
    for row in members:
        counts[row["client_id"]] = counts.get(row["client_id"], 0) + 1
    for client_id, count in counts.items():
        if count > 1:
            text = word("old_client", "twice", n=count, group=group["group"])
            clients[client_id].notes.append(Note("shared", "crit", text))
    releases = {
        (row["client_id"], version)
        for row in members
        if (version := _compared(row)) is not None
    }
    newest = max((version for _, version in releases), default=())
    for client_id, version in sorted(releases):
        if version < newest:
            values = {
                "version": written(version),
                "group": group["group"],
                "newest": written(newest),
            }
            text = word("old_client", "behind", **values)
            clients[client_id].notes.append(Note("old", "warn", text))


def _note_client(client: Client, release: Version) -> None:
    rows = [each.row for each in client.memberships]
    if len(client.hosts) > 1:
        text = word("old_client", "hosts", hosts=", ".join(client.hosts))
        client.notes.append(Note("shared", "crit", text))
    for version in sorted(client.releases):
        if version < release:
            values = {"version": written(version), "release": written(release)}
            note = Note("old", "warn", word("old_client", "before", **values))
            client.notes.append(note)
    missing = [since for row in rows if (since := row["missing_since"]) is not None]
    if missing:
        text = word("old_client", "missing", time=clock(min(missing)))
        client.notes.append(Note("missing", "warn", text))


def _compared(row: ClientRow) -> Version | None:
    return version_of(row["version"]) if row["language"] == COMPARED else None
