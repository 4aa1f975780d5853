"""The documents of a cluster's brokers and clients; for the rules see `documents`.

`BrokersDocument` has one entry for each broker process, masters and slaves alike, as
each reports on itself. `ClientsDocument` has the members of all groups.
"""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict


class PoolState(TypedDict):
    """One thread pool of a broker: its waiting requests, and how long the first waits.

    `size` and `capacity` count requests.
    """

    name: str
    size: int | None
    capacity: int | None
    wait_ms: int | None


class DelayState(TypedDict):
    """How many messages of one delay level have not been delivered yet."""

    level: int
    waiting: int


class BrokerFigures(TypedDict):
    """What a broker reports on itself. Sizes are bytes, ratios 0 to 1.

    Rates are messages a second over the last 10, 60 and 600 s; None for a span that is
    not over yet. `put_spread` counts the writes of the broker's current minute by how
    long they took, in its own words. `earliest_at` is when its oldest message was
    stored.
    """

    version: str | None
    boot_at: int | None
    active: bool | None
    rates_in: list[float | None]
    rates_out: list[float | None]
    today_in: int | None
    today_out: int | None
    put_failed: int | None
    put_p99_ms: float | None
    put_p999_ms: float | None
    put_max_ms: int | None
    put_spread: list[tuple[str, int]]
    page_cache_ms: int | None
    dispatch_bytes: int | None
    flush_bytes: int | None
    disk_ratio: float | None
    index_disk_ratio: float | None
    disk_total: int | None
    disk_free: int | None
    log_min: int | None
    log_max: int | None
    earliest_at: int | None
    pools: list[PoolState]
    delays: list[DelayState]


class Follower(TypedDict):
    """A slave by its connection to its master, and whether the master counts on it.

    `behind_bytes` is None before the slave has confirmed anything.
    """

    address: str
    behind_bytes: int | None
    in_sync: bool


class Replicas(TypedDict):
    """The slaves that are connected to a master, and how many count as in sync.

    Where a controller elects masters, `in_sync` is the in-sync state set without the
    master, and may count slaves that are not connected.
    """

    in_sync: int
    followers: list[Follower]


class BrokerState(TypedDict):
    """One broker process, as it last reported; `broker_id` 0 is the master.

    `figures` are those of `answered_at`; they are old where `error` says why the last
    question (`asked_at`) had no answer. `unknown` has the reasons for figures that are
    None. `fill_rate` is bytes a second over at most ten minutes. `full_in_ms` is when,
    at that rate, the disk reaches the ratio `full_ratio` at which the broker deletes
    files whatever their age; `full_why` says why there is no such time.
    `behind_bytes` is how far a slave is behind its master. `replicas` are the slaves of
    a master; None with `replicas_why` where it did not say. `reported` is the whole
    table, in the broker's own words; `settings` has those that explain figures.
    """

    name: str
    cluster: str
    broker_id: int
    address: str
    asked_at: int
    answered_at: int | None
    took_ms: float | None
    reason: str | None
    error: str | None
    figures: BrokerFigures | None
    unknown: dict[str, str]
    fill_rate: float | None
    full_in_ms: int | None
    full_why: str | None
    full_ratio: float | None
    behind_bytes: int | None
    replicas: NotRequired[Replicas | None]
    replicas_why: NotRequired[str | None]
    reported: dict[str, str]
    settings: dict[str, str]
    settings_error: str | None


def untold(
    name: str, cluster: str, broker_id: int, address: str, *, why: str | None
) -> BrokerState:
    """Return the state of a broker process that has told nothing, and `why` so."""
    return {
        "name": name,
        "cluster": cluster,
        "broker_id": broker_id,
        "address": address,
        "asked_at": 0,
        "answered_at": None,
        "took_ms": None,
        "reason": None,
        "error": None,
        "figures": None,
        "unknown": {},
        "fill_rate": None,
        "full_in_ms": None,
        "full_why": why,
        "full_ratio": None,
        "behind_bytes": None,
        "replicas": None,
        "replicas_why": why,
        "reported": {},
        "settings": {},
        "settings_error": None,
    }


class BrokersDocument(TypedDict):
    """All broker processes of a cluster; `taken_at` is when they were last asked."""

    cluster: str
    taken_at: int
    brokers: list[BrokerState]


class ClientRow(TypedDict):
    """One connection of a client to one group.

    `queues` counts what it owns; None where owners are not known. `subscriptions` are
    pairs of topic and expression as the client itself reported them, first so at
    `reported_at`; None if it never did. `started_at` is from the same report; `seen_at`
    is when the collector first saw it here. `connection` counts the connections of one
    client id within the group, from 0.
    """

    client_id: str
    address: str | None
    language: str | None
    version: str | None
    connection: int
    queues: int | None
    strategy: str | None
    subscriptions: list[tuple[str, str]] | None
    reported_at: int | None
    started_at: int | None
    seen_at: int
    missing_since: int | None
    managed: bool


class ClientGroup(TypedDict):
    """The members of one group. `subscriptions` are those that brokers hold for it.

    `why` says why nobody's queues are known.
    """

    group: str
    kind: str
    subscriptions: list[tuple[str, str]]
    why: str | None
    members: list[ClientRow]


class ClientsDocument(TypedDict):
    """The members of all groups that have any.

    It is written when something in it has changed; `changed_at` is that time, and the
    overview says when the cluster was last swept.
    """

    cluster: str
    changed_at: int
    groups: list[ClientGroup]
