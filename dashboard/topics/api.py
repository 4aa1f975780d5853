"""Topics over REST: what the list and a topic's page show."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Router
from typing_extensions import TypedDict

from dashboard.live.topic_documents import TopicRow
from dashboard.rest.asking import (
    JSON,
    cluster_named,
    current_state,
    did_you_mean,
    refuse,
)

from .retention import Cause, Keeping, keepings, retention_of

router = Router()


class RetentionLeft(TypedDict):
    """How long no message of a topic is deleted that a group has yet to read.

    `ms` is the time left by the `broker` where it is shortest, and `cause` what ends
    it: messages reach their age, the disk is full, or unread messages were deleted
    already. Both are None while `ms` is. `unknown` says why `ms` is None
    (`nothing_unread` and `no_reader` mean that nothing waits); where `ms` is known,
    less may be left, for that reason.
    """

    ms: int | None
    unknown: str | None
    cause: Cause | None
    broker: str | None


class TopicOut(TopicRow):
    """One topic, with the time that is left to read its messages."""

    retention: RetentionLeft


class TopicsOut(TypedDict):
    """All topics of a cluster as one sweep saw them, in the order of their names."""

    cluster: str
    taken_at: int
    topics: list[TopicOut]


@router.get("/clusters/{cluster}/topics", response={200: TopicsOut})
def topics(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return all topics of a cluster as the last sweep saw them."""
    name = cluster_named(cluster).name
    document = current_state().topics(name)
    if document is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    kept = _kept(name)
    told: TopicsOut = {
        "cluster": document["cluster"],
        "taken_at": document["taken_at"],
        "topics": [_told(each, kept) for each in document["topics"]],
    }
    # Thousands of topics: they need no second look at each of their values.
    return HttpResponse(orjson.dumps(told), content_type=JSON)


@router.get("/clusters/{cluster}/topics/{group:topic}", response={200: TopicOut})
def topic(request: HttpRequest, cluster: str, topic: str) -> TopicOut:
    """Return one topic."""
    name = cluster_named(cluster).name
    document = current_state().topics(name)
    if document is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    rows = document["topics"]
    found = next((each for each in rows if each["topic"] == topic), None)
    if found is None:
        told = f"no topic {topic!r} was seen on cluster {cluster!r}"
        refuse(404, told + did_you_mean(cluster, "topic", topic))
    return _told(found, _kept(name))


def _kept(cluster: str) -> dict[str, Keeping]:
    return keepings(current_state().brokers(cluster))


def _told(row: TopicRow, kept: Mapping[str, Keeping]) -> TopicOut:
    left = retention_of(row, kept)
    known = left.ms is not None
    retention: RetentionLeft = {
        "ms": left.ms,
        "unknown": left.why,
        "cause": left.cause if known else None,
        "broker": left.broker if known else None,
    }
    return {**row, "retention": retention}
