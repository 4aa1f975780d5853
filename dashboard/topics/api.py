"""Topics over REST: what the list and a topic's page show."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from dashboard.live.topic_documents import TopicRow, Topics
from dashboard.rest.asking import (
    JSON,
    cluster_named,
    current_state,
    did_you_mean,
    refuse,
)
from dashboard.rest.schemas import Problem

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((401, 404, 503), Problem)


@router.get("/clusters/{cluster}/topics", response={200: Topics, **ERRORS})
def topics(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return all topics of a cluster as the last sweep saw them."""
    text = current_state().topics_text(cluster_named(cluster).name)
    if text is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    return HttpResponse(text, content_type=JSON)


@router.get(
    "/clusters/{cluster}/topics/{group:topic}", response={200: TopicRow, **ERRORS}
)
def topic(request: HttpRequest, cluster: str, topic: str) -> TopicRow:
    """Return one topic."""
    document = current_state().topics(cluster_named(cluster).name)
    if document is None:
        refuse(503, f"cluster {cluster!r} has not been collected yet")
    rows = document["topics"]
    found = next((each for each in rows if each["topic"] == topic), None)
    if found is None:
        told = f"no topic {topic!r} was seen on cluster {cluster!r}"
        refuse(404, told + did_you_mean(cluster, "topic", topic))
    return found
