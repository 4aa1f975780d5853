"""Clients over all groups, which versions are old, and which ids are shared."""

from __future__ import annotations

from dashboard.clients.reads import Client, clients_of, host_of, version_of
from tests.dashboard.reported import client_group, client_row, clients_document

A, B = "10.20.4.17@4100", "10.20.4.18@4101"


def by_id(*groups: object, oldest: str = "4.9.0") -> dict[str, Client]:
    document = clients_document(*groups)  # type: ignore[arg-type]
    return {each.client_id: each for each in clients_of(document, oldest)}


def said(client: Client) -> list[tuple[str, str]]:
    return [(note.kind, note.text) for note in client.notes]


def test_a_client_of_several_groups_is_one() -> None:
    groups = [client_group(g, client_row(A, queues=n)) for g, n in (("a", 2), ("b", 3))]
    found = by_id(*groups)[A]
    assert (found.groups, found.queues, found.topics) == (["a", "b"], 5, ["orders"])
    assert said(found) == []


def test_what_it_owns_is_unknown_where_one_group_does_not_tell() -> None:
    shared = client_group("b", client_row(A, queues=None), why="shared")
    found = by_id(client_group("a", client_row(A)), shared)[A]
    assert (found.queues, found.why_queues) == (None, "shared")


def test_a_version_is_old_beside_a_newer_one_or_before_a_stated_release() -> None:
    old = client_row(A, version="V4_9_7")
    group = client_group("a", old, client_row(B))
    assert said(by_id(group)[A]) == [
        ("old", "4.9.7 in “a”, which has members of 5.3.1")
    ]
    assert said(by_id(group)[B]) == []
    alone = client_group("a", old)
    assert said(by_id(alone)[A]) == []
    assert said(by_id(alone, oldest="5.0.0")[A]) == [
        ("old", "4.9.7 is older than 5.0.0")
    ]


def test_versions_of_other_languages_are_not_compared() -> None:
    go = client_row(A, version="V4_4_0", language="GO")
    assert said(by_id(client_group("a", go, client_row(B)))[A]) == []


def test_queues_of_an_id_on_two_connections_are_counted_once() -> None:
    twins = [client_row(A, connection=n, queues=8) for n in (0, 1)]
    other = client_group("b", client_row(A, queues=3))
    assert by_id(client_group("a", *twins), other)[A].queues == 11


def test_an_id_of_several_processes_or_hosts_is_shared() -> None:
    twins = [client_row(A, connection=n) for n in (0, 1)]
    ((kind, text),) = said(by_id(client_group("a", *twins))[A])
    assert (kind, text.split(":")[0]) == ("shared", "2 processes with this id in “a”")
    elsewhere = client_row(A, address="10.20.9.9:4000")
    found = by_id(client_group("a", client_row(A)), client_group("b", elsewhere))[A]
    assert said(found) == [("shared", "One id on several hosts: 10.20.4.17, 10.20.9.9")]


def test_two_ports_of_one_host_are_one_client() -> None:
    other = client_row(A, address="10.20.4.17:60000")
    found = by_id(client_group("a", client_row(A)), client_group("b", other))[A]
    assert (found.hosts, found.notes) == (["10.20.4.17"], [])


def test_names_of_releases() -> None:
    assert version_of("V5_3_1") == version_of("5.3.1") == (5, 3, 1)
    assert version_of("V4_9_4_SNAPSHOT") == (4, 9, 4)
    assert version_of("HIGHER_VERSION") is version_of(None) is None
    assert host_of("/10.0.0.1:77") == "10.0.0.1"
