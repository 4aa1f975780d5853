"""Brokers over REST: what each reports, and declaring a missing one gone for good."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.live.broker_documents import BrokersDocument, BrokerState
from dashboard.rest.asking import (
    cluster_named,
    current_state,
    did_you_mean,
    refuse,
)
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .reads import broker_rows
from .writes import say_gone

router = Router()
ERRORS: Final[dict[int, Any]] = dict.fromkeys((409,), Problem)


class GoneIn(Schema):
    """Why a missing broker will not come back."""

    reason: str = Field(max_length=1000)


class GoneOut(Schema):
    """Who said that a broker is gone for good, when (ms since the epoch) and why."""

    broker: str
    at: int
    by: str
    reason: str


@router.get("/clusters/{cluster}/brokers", response={200: BrokersDocument, **ERRORS})
def brokers(request: HttpRequest, cluster: str) -> BrokersDocument:
    """Return what every broker process of a cluster last reported on itself."""
    return _document(cluster)


@router.get(
    "/clusters/{cluster}/brokers/{broker}",
    response={200: list[BrokerState], **ERRORS},
)
@paged
def broker(request: HttpRequest, cluster: str, broker: str) -> list[BrokerState]:
    """Return the processes of one broker name, the master first."""
    document, overview = _document(cluster), current_state().overview(cluster)
    rows = broker_rows(document, overview)
    found = [row.state for row in rows if row.state["name"] == broker]
    if not found:
        told = f"cluster {cluster!r} has no broker {broker!r}"
        refuse(404, told + did_you_mean(cluster, "broker", broker))
    return found


def _document(cluster: str) -> BrokersDocument:
    document = current_state().brokers(cluster_named(cluster).name)
    if document is None:
        refuse(503, f"the brokers of {cluster!r} have not been asked yet")
    return document


@router.post(
    "/clusters/{cluster}/brokers/{broker}/gone", response={200: GoneOut, **ERRORS}
)
def broker_gone(
    request: HttpRequest, cluster: str, broker: str, body: GoneIn
) -> dict[str, Any]:
    """Treat a missing broker as gone for good from the next sweep on."""
    cluster_named(cluster)
    gone = say_gone(user_of(request), cluster, broker, body.reason)
    return {"broker": broker, "at": gone.at, "by": gone.by, "reason": gone.reason}
