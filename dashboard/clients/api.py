"""Clients over REST: all of them, and one."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.live.broker_documents import ClientRow, ClientsDocument
from dashboard.rest.asking import (
    cluster_named,
    current_state,
    did_you_mean,
    refuse,
)
from dashboard.rest.paging import paged

from .reads import OLDEST, Client, clients_of

router = Router()


class ConnectionOut(ClientRow):
    """One connection of a client to one group; see the document's own fields."""

    group: str


class ClientOut(Schema):
    """One client id. `queues` is null where what it owns is not known in each group."""

    client_id: str
    hosts: list[str]
    languages: list[str]
    versions: list[str]
    groups: list[str]
    queues: int | None
    notes: list[str] = Field(
        description="what is wrong with it, such as an id that several processes share"
    )
    connections: list[ConnectionOut]


@router.get("/clusters/{cluster}/clients", response={200: list[ClientOut]})
@paged
def clients(
    request: HttpRequest, cluster: str, older: str = OLDEST
) -> list[dict[str, Any]]:
    """List the clients of all groups; those before `older` are noted as old."""
    return [_out(each) for each in clients_of(_document(cluster), older)]


@router.get(
    "/clusters/{cluster}/clients/{group:client_id}",
    response={200: ClientOut},
)
def client(request: HttpRequest, cluster: str, client_id: str) -> dict[str, Any]:
    """Return one client; 404 while it is in no group."""
    all_clients = clients_of(_document(cluster))
    found = [each for each in all_clients if each.client_id == client_id]
    if not found:
        told = f"client {client_id!r} is in no group of cluster {cluster!r}"
        refuse(404, told + did_you_mean(cluster, "client", client_id))
    return _out(found[0])


def _document(cluster: str) -> ClientsDocument:
    document = current_state().clients(cluster_named(cluster).name)
    if document is None:
        refuse(503, f"the clients of {cluster!r} have not been collected yet")
    return document


def _out(client: Client) -> dict[str, Any]:
    return {
        "client_id": client.client_id,
        "hosts": client.hosts,
        "languages": client.languages,
        "versions": client.versions,
        "groups": client.groups,
        "queues": client.queues,
        "notes": [note.text for note in client.notes],
        "connections": [
            {**each.row, "group": each.group["group"]} for each in client.memberships
        ],
    }
