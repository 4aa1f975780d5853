"""A comparison as a document; `dashboard.whatif.model.document` explains it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

Spent = float | Literal["never"] | None


class MissingBroker(TypedDict):
    """A broker that is not heard, and since when."""

    broker: str
    state: str
    since: int | None


class Sides(TypedDict):
    """The members now and in the scenario, as places in `clients`."""

    now: list[int]
    then: list[int]


class Loads(TypedDict):
    """The unit of loads, and for how many queues the mean of others is taken."""

    unit: Literal["rate", "queues"]
    assumed: int
    assumed_of: list[int]


class MemberRate(TypedDict):
    """Messages a second that one member can consume, and how that is known."""

    value: float | None
    source: Literal["entered", "observed"] | None


class Remark(TypedDict):
    """A remark: its key, and what to fill in."""

    code: str
    params: dict[str, Any]


class Score(TypedDict):
    """How evenly something is spread over the members."""

    max_over_mean: float | None
    variation: float | None
    gini: float | None
    idle: int | None


class Remainder(TypedDict):
    """By how many queues members differ, and the least that is possible."""

    worst: int | None
    least_possible: int | None


class MemberColumns(TypedDict):
    """One value for each member."""

    client: list[int]
    queues: list[int]
    load: list[float | None]
    load_assumed: list[Any]
    lag: list[int | None]
    lag_partial: list[bool]
    drain_s: list[Spent]


class ComparedRow(TypedDict):
    """One strategy, or the present; the numbers are left out if there is a `reason`."""

    key: str
    strategy: str | None
    reason: Remark | None
    assumed: dict[str, Any]
    owners: NotRequired[list[int | list[int] | None]]
    moved: NotRequired[list[int]]
    gained: NotRequired[list[int]]
    lost: NotRequired[list[int]]
    unheard: NotRequired[list[int]]
    unassigned: NotRequired[int | None]
    twice: NotRequired[int | None]
    full: NotRequired[bool | None]
    by_queues: NotRequired[Score]
    by_load: NotRequired[Score]
    by_lag: NotRequired[Score | None]
    worst_drain_s: NotRequired[Spent]
    remainder: NotRequired[Remainder]
    idle: NotRequired[list[int] | None]
    members: NotRequired[MemberColumns]


class WhatIfOut(TypedDict):
    """A comparison of strategies; a queue is topic, broker, id, lag and load."""

    cluster: str
    group: str
    taken_at: int | None
    query: str
    complete: bool
    missing: list[MissingBroker]
    strategy: str | None
    clients: list[str]
    members: Sides
    queues: list[tuple[str, str, int, int | None, float | None]]
    loads: Loads
    member_rate: MemberRate
    notes: list[Remark]
    rows: list[ComparedRow]
