"""Findings for programs: a group's in words and values, a cluster's by title."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.live.documents import FindingLevel, FindingState, GroupState
from dashboard.rest.asking import (
    cluster_named,
    current_state,
    group_document,
    refuse,
)
from dashboard.rest.paging import paged
from dashboard.wording.words import word

from .finding import WORST_FIRST
from .said import say_finding

router = Router()


class SaidOut(Schema):
    """A finding's words, in the language that the request asks for."""

    title: str
    text: str
    advice: str


class FindingOut(Schema):
    """One finding about a group; the group's own document explains the fields."""

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
    cause: str | None = Field(
        None, description="key of the finding from which this one follows"
    )


class GroupFindingOut(Schema):
    """One finding of a group, by title."""

    group: str
    key: str
    level: FindingLevel
    title: str


@router.get(
    "/clusters/{cluster}/groups/{group:group}/findings",
    response={200: list[FindingOut]},
)
@paged
def findings(request: HttpRequest, cluster: str, group: str) -> list[FindingOut]:
    """Return what is wrong with a group, worst first, in words and as values."""
    state: GroupState = orjson.loads(group_document(cluster, group))
    return [_finding(finding) for finding in state["findings"]]


@router.get(
    "/clusters/{cluster}/findings",
    response={200: list[GroupFindingOut]},
)
@paged
def cluster_findings(request: HttpRequest, cluster: str) -> list[GroupFindingOut]:
    """Return which group of a cluster has which findings, worst first."""
    overview = current_state().overview(cluster_named(cluster).name)
    if overview is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    found = [
        GroupFindingOut(
            group=row["group"],
            key=mark["key"],
            level=mark["level"],
            title=word("finding", f"{mark['key']}.title"),
        )
        for row in overview["groups"]
        for mark in row["findings"]
    ]
    return sorted(found, key=lambda each: WORST_FIRST.index(each.level))


def _finding(finding: FindingState) -> FindingOut:
    said = say_finding(finding)
    return FindingOut(
        key=finding["key"],
        level=finding["level"],
        since=finding["since"],
        said=SaidOut(title=said.title, text=said.text, advice=said.advice),
        values=finding["values"],
        evidence=finding["evidence"],
        queues=finding["queues"],
        queue_count=finding["queue_count"],
        members=finding["members"],
        member_count=finding["member_count"],
        at_least=finding.get("at_least", []),
        as_of=finding.get("as_of"),
        cause=finding.get("cause"),
    )
