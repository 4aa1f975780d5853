"""Read the current documents of clusters and groups, or say why there is none.

A page is drawn in any case: a cache that is away and a collector that has not yet
written are states to be shown, not errors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar, cast

import redis
from django.conf import settings

from .arrival import group_text
from .broker_documents import BrokersDocument, ClientsDocument
from .decoding import read_object
from .documents import GroupState, LakeGap, Overview
from .state import LiveState, live_state
from .topic_documents import Topics

logger = logging.getLogger(__name__)

Document = TypeVar("Document")


class Problem(StrEnum):
    """Why there is no document."""

    NONE = ""
    NO_CACHE = "no_cache"
    NOT_COLLECTED = "not_collected"


@dataclass(frozen=True, slots=True)
class Reading(Generic[Document]):
    """A document, or None with the problem."""

    document: Document | None
    problem: Problem = Problem.NONE


def read_overview(cluster: str) -> Reading[Overview]:
    return _read(lambda state: state.overview(cluster))


def read_topics(cluster: str) -> Reading[Topics]:
    return _read(lambda state: state.topics(cluster))


def read_brokers(cluster: str) -> Reading[BrokersDocument]:
    return _read(lambda state: state.brokers(cluster))


def read_clients(cluster: str) -> Reading[ClientsDocument]:
    return _read(lambda state: state.clients(cluster))


def read_lake_gap(cluster: str) -> LakeGap | None:
    """Read what a cluster's roll-ups have recently lost; None also if not known."""
    return _read(lambda state: state.lake_gap(cluster)).document


def cache_refusal() -> redis.ResponseError | None:
    """Return the error of a cache that answers and takes no writes; None if it does."""
    try:
        live_state().ask_to_write()
    except redis.ResponseError as error:
        return error
    except redis.RedisError:
        return None
    return None


def read_group(
    cluster: str, group: str, *, newer_than_ms: int = 0
) -> Reading[GroupState]:
    """Read a group; wait up to 2.5 s for one that nobody has watched so far.

    An older document than asked for is waited for too; see `group_text`.
    """

    def ask(state: LiveState) -> GroupState | None:
        text = group_text(state, cluster, group, newer_than_ms=newer_than_ms)
        return cast("GroupState | None", read_object(text))

    return _read(ask)


def read_groups(cluster: str, groups: Sequence[str]) -> Sequence[GroupState | None]:
    """Read what was collected last of each group; None where there is nothing."""
    found = _read(lambda state: state.groups(cluster, groups)).document
    return found or [None] * len(groups)


def _read(ask: Callable[[LiveState], Document | None]) -> Reading[Document]:
    if not settings.ROCKETSCOPE_REDIS_URL:
        return Reading(None, Problem.NO_CACHE)
    try:
        document = ask(live_state())
    except redis.RedisError as error:
        logger.warning("the cache did not answer: %s", error)
        return Reading(None, Problem.NO_CACHE)
    if document is None:
        return Reading(None, Problem.NOT_COLLECTED)
    return Reading(document)
