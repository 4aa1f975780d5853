"""Publishes a cluster's documents and updates, as its leader.

The document is stored first and the update sent after it, both already encoded: a
reader that missed the update finds at least its state in the document. Nothing is sent
once the lead is lost. While the cache answers but takes no writes, as at its limit of
memory, nothing is stored or sent, and the lead goes on: what it keeps in database and
lake does not depend on the cache, and readers see a gap in the numbers and ask again. A
single document that the cache refuses does not hold up others of the same call.

Cost: encoding once, one round trip for all documents of a call, one more per update. Of
an overview, rows that stay the same are encoded once.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import redis

from .documents import GroupState, Overview
from .names import (
    group_key,
    live_group_name,
    live_overview_name,
    overview_columns_key,
    overview_key,
)
from .overview_rows import OverviewEncoder
from .state import LeaderState

logger = logging.getLogger(__name__)

DOCUMENTS_PER_CALL: Final = 200
DIGEST_ROWS: Final = 200
"""The most rows that a digest carries, worst first; pages ask for more by GET."""


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """A group's new document, and the message for its watchers; None without any."""

    document: GroupState
    message: Mapping[str, Any] | None = None


class Publisher:
    """Writes through a `LeaderState` and sends through a channel layer."""

    def __init__(self, leader: LeaderState, layer: Any) -> None:
        self._leader = leader
        self._layer = layer
        self._encoder = OverviewEncoder()
        self._refusal = ""
        self._full = False

    async def groups(self, updates: Sequence[GroupUpdate]) -> bool:
        """Store and send the updates of groups; False when the lead was lost."""
        for start in range(0, len(updates), DOCUMENTS_PER_CALL):
            part = updates[start : start + DOCUMENTS_PER_CALL]
            if await self._as_many_as_go(part) is False:
                return False
        return True

    async def _as_many_as_go(self, updates: Sequence[GroupUpdate]) -> bool | None:
        """Publish what the cache takes; None when it refused something.

        What it refuses together is tried in halves, unless it is full: each half has
        fewer documents, so that a single bad one is found in a few calls.
        """
        done = await self._unless_refused(self._some_groups(updates))
        if done is not None or self._full or len(updates) == 1:
            return done
        middle = len(updates) // 2
        for half in (updates[:middle], updates[middle:]):
            if await self._as_many_as_go(half) is False:
                return False
        return None

    async def overview(self, document: Overview) -> bool:
        """Store an overview and send its digest; False when the lead was lost."""
        return await self._unless_refused(self._overview(document)) is not False

    async def _overview(self, document: Overview) -> bool:
        cluster = document["cluster"]
        text, columns = self._encoder.encode(document)
        stored = {overview_key(cluster): text, overview_columns_key(cluster): columns}
        if not await self._leader.write(stored):
            return False
        await self._send(live_overview_name(cluster), digest(document))
        return True

    async def store(self, documents: Mapping[str, bytes]) -> bool:
        """Store encoded documents that no reader waits for, under their keys."""
        done = await self._unless_refused(self._leader.write(documents))
        return done is not False

    async def remove_groups(self, cluster: str, groups: Sequence[str]) -> bool:
        """Remove the documents of groups that are gone."""
        return await self._leader.delete([group_key(cluster, name) for name in groups])

    async def _unless_refused(self, work: Awaitable[bool]) -> bool | None:
        """Return what the work returns; None when the cache takes no writes."""
        try:
            done = await work
        except redis.ResponseError as error:
            self._full = isinstance(error, redis.exceptions.OutOfMemoryError)
            if str(error) != self._refusal:
                logger.warning("nothing is published, the cache refuses: %s", error)
            self._refusal = str(error)
            return None
        self._refusal = ""
        return done

    async def _some_groups(self, updates: Sequence[GroupUpdate]) -> bool:
        documents = {
            group_key(each.document["cluster"], each.document["group"]): orjson.dumps(
                each.document
            )
            for each in updates
        }
        if not await self._leader.write(documents):
            return False
        for each in updates:
            if each.message is not None:
                name = live_group_name(each.document["cluster"], each.document["group"])
                await self._send(name, each.message)
        return True

    async def _send(self, name: str, message: Mapping[str, Any]) -> None:
        text = orjson.dumps(message).decode()
        await self._layer.group_send(name, {"type": "live.update", "text": text})


def digest(document: Overview) -> dict[str, Any]:
    """Return what a list needs to stay current: no long tail of rows, no trends."""
    rows = document["groups"][:DIGEST_ROWS]
    return {
        "type": "overview",
        **document,
        "groups": [
            {name: value for name, value in row.items() if name != "lag_trend"}
            for row in rows
        ],
    }
