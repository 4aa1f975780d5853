"""What the API takes and answers beside the live documents."""

from __future__ import annotations

from typing import Any, Literal

from ninja import Schema
from pydantic import Field

from dashboard.live.documents import FindingLevel


class Problem(Schema):
    """Why a request was not followed, naming the value and what would be allowed."""

    detail: str


class ClusterOut(Schema):
    """One configured cluster, and how its last sweep went."""

    name: str
    embedded: bool
    name_servers: list[str]
    taken_at: int | None = Field(
        None, description="ms since the epoch; null before the first sweep"
    )
    groups: int | None = None
    by_level: dict[str, int] | None = None
    brokers: int | None = None
    brokers_answered: int | None = None
    error: str | None = None


class MembersIn(Schema):
    """One member more, or less; `client_id` names the one that shall leave."""

    action: Literal["add", "remove"]
    client_id: str = Field("", max_length=255)
    reason: str = Field("", max_length=1000)


class MembersOut(Schema):
    """How many members the group is wanted to have now."""

    members_wanted: int


class GoneIn(Schema):
    """Why a missing broker will not come back."""

    reason: str = Field(max_length=1000)


class GoneOut(Schema):
    """Who said when (ms since the epoch) and why that a broker is gone for good."""

    broker: str
    at: int
    by: str
    reason: str


class SaidOut(Schema):
    """A finding's words, in the language that the request asks for."""

    title: str
    text: str
    advice: str


class FindingOut(Schema):
    """One finding about a group; what the fields mean: the group's own document."""

    key: str
    level: FindingLevel
    since: int | None
    said: SaidOut
    values: dict[str, Any]
    evidence: list[tuple[str, Any]]
    queues: list[str]
    queue_count: int
    members: list[str]
    member_count: int
    at_least: list[str] = Field(
        [], description="names of values and evidence that may be more"
    )
    as_of: int | None = Field(
        None, description="ms; when it was last found, if it cannot be checked now"
    )


class GroupFindingOut(Schema):
    """That a group has a finding."""

    group: str
    key: str
    level: FindingLevel
    title: str


WhatIfOut = dict[str, Any]


class TopicIn(Schema):
    """One subscription: a topic, and the tags wanted of it."""

    topic: str = Field(max_length=127)
    expression: str = Field("*", max_length=1000)


class HostedIn(Schema):
    """What a managed group is made from; unknown names are refused in words."""

    topics: list[TopicIn] = Field(min_length=1, max_length=100)
    mode: str = "CLUSTERING"
    orderly: bool = False
    strategy: str = Field("AVG", max_length=64)
    strategy_options: dict[str, Any] = Field(default_factory=dict)
    start_position: str = "CONSUME_FROM_LAST_OFFSET"
    listener: str = Field("count", max_length=64)
    listener_options: dict[str, Any] = Field(default_factory=dict)
    members: int = 1
    reason: str = Field("", max_length=1000)


class HostedOut(Schema):
    """A managed group as it is wished."""

    name: str
    topics: list[dict[str, str]]
    mode: str
    orderly: bool
    strategy: str
    strategy_options: dict[str, Any]
    start_position: str
    listener: str
    listener_options: dict[str, Any]
    members_wanted: int
    revision: int
    leaving: bool


class PreviewOut(Schema):
    """What applying a scenario's row would do, and for how long strategies mix."""

    row: str
    changed: int
    transfers: list[dict[str, Any]]
    mixed: dict[str, Any]
    desired: dict[str, Any] | None
    predicted: dict[str, Any] | None
    refusal: str
    token: str
    complete: bool = Field(
        description="false while a broker of the group does not answer everything"
    )
    notes: list[dict[str, Any]]


class ChangeIn(Schema):
    """A scenario to apply, with the token of its preview."""

    query: str
    show: str = ""
    token: str
    reason: str = Field(max_length=1000)


class UndoIn(Schema):
    """Why a change is undone; `confirmed` overwrites what others changed since."""

    reason: str = Field(max_length=1000)
    confirmed: bool = False


class ChangeOut(Schema):
    """A change, and how far members have followed it."""

    id: int
    row: str
    before: dict[str, Any]
    after: dict[str, Any]
    predicted: dict[str, Any]
    reason: str
    by: str
    at: str
    undo_of: int | None
    state: str
    members: int
    switched: int
    queues: int
    as_predicted: int
    unheard: int


class ScenarioIn(Schema):
    """A scenario to keep: the query of its link."""

    group: str = Field("", max_length=255)
    name: str = Field(max_length=120)
    query: str = ""
    shared: bool = False


class ScenarioOut(Schema):
    """A scenario that was kept."""

    id: int
    group: str
    name: str
    query: str
    show: str
    shared: bool
    owner: str
    changed_at: str
