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


class GroupFindingOut(Schema):
    """That a group has a finding."""

    group: str
    key: str
    level: FindingLevel
    title: str


WhatIfOut = dict[str, Any]
