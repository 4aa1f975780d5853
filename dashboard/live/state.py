"""The current documents in the cache: read by pages and API, written by the leader.

Readers get plain dicts, or the encoded text where it is only passed on. Writers go
through `LeaderState`, whose every write is made by a script that first compares the
lease of the cluster: a leader that was frozen and lost its lease writes nothing, and
is told so. A document lives for a day after its last write, so that a page still
shows the last known state, with its age, when no collector runs.

Cost: one round trip per call; a whole sweep's documents go in one pipeline.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

import redis
import redis.asyncio
from django.conf import settings

from .alert_documents import AlertingDocument
from .broker_documents import BrokersDocument, ClientsDocument
from .decoding import read_object
from .documents import GroupState, LakeGap, Overview
from .kept_overviews import HEAD_BYTES, kept_overview
from .names import (
    PROBE_KEY,
    alerting_key,
    brokers_key,
    clients_key,
    gone_key,
    group_key,
    lake_gap_key,
    lease_key,
    overview_columns_key,
    overview_key,
    scraped_key,
    topics_key,
    watch_key,
)
from .overview_rows import open_overview
from .topic_documents import Topics

DOCUMENT_SECONDS: Final = 24 * 3600
WATCH_SECONDS: Final = 15.0
WATCHES_KEPT_SECONDS: Final = 60
"""All watches of a cluster go when nobody renewed one, even if no collector runs."""
SCRAPED_SECONDS: Final = 300.0
"""Longer than Prometheus leaves between two scrapes."""
SOCKET_TIMEOUT_SECONDS: Final = 5.0

_WRITE_AS_LEADER: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('SET', KEYS[i], ARGV[i + 1], 'EX', ARGV[2]) end
return 1
"""

_DELETE_AS_LEADER: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1
"""


class LiveState:
    """Reads the cache from synchronous code; one instance may serve many threads."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def overview_text(self, cluster: str) -> bytes | None:
        """Return the encoded Overview of a cluster, or None when there is none."""
        return _object_text(self.client.get(overview_key(cluster)))

    def topics(self, cluster: str) -> Topics | None:
        """Return the Topics of a cluster, or None when none were collected yet."""
        text = self.client.get(topics_key(cluster))
        return cast("Topics | None", read_object(text))

    def group_text(self, cluster: str, group: str) -> bytes | None:
        """Return the encoded GroupState of a group, or None when there is none."""
        return _object_text(self.client.get(group_key(cluster, group)))

    def overview(self, cluster: str) -> Overview | None:
        """Return the Overview of a cluster, or None when none was collected yet.

        Readers share it, and must not change it.
        """
        key = overview_key(cluster)
        with self.client.pipeline(transaction=False) as asked:
            asked.getrange(key, 0, HEAD_BYTES - 1)
            asked.strlen(key)
            head, size = asked.execute()
        return kept_overview(
            cluster,
            (head, size),
            lambda: self._read_overview(cluster),
        )

    def _read_overview(self, cluster: str) -> Overview | None:
        # As one transaction: both are of the same sweep.
        with self.client.pipeline() as asked:
            asked.get(overview_key(cluster))
            asked.get(overview_columns_key(cluster))
            text, columns = asked.execute()
        return open_overview(_object_text(text), columns)

    def brokers(self, cluster: str) -> BrokersDocument | None:
        """Return what the brokers of a cluster last reported on themselves."""
        text = self.client.get(brokers_key(cluster))
        return cast("BrokersDocument | None", read_object(text))

    def alerting(self, cluster: str) -> AlertingDocument | None:
        """Return how the rules of alerts stood at the last sweep of all groups."""
        text = self.client.get(alerting_key(cluster))
        return cast("AlertingDocument | None", read_object(text))

    def clients(self, cluster: str) -> ClientsDocument | None:
        """Return the members of all groups of a cluster."""
        text = self.client.get(clients_key(cluster))
        return cast("ClientsDocument | None", read_object(text))

    def lake_gap(self, cluster: str) -> LakeGap | None:
        """Return what a cluster's roll-ups have recently lost, if anything."""
        text = self.client.get(lake_gap_key(cluster))
        return cast("LakeGap | None", read_object(text))

    def group(self, cluster: str, group: str) -> GroupState | None:
        """Return the GroupState of a group, or None when none was collected yet."""
        return cast("GroupState | None", read_object(self.group_text(cluster, group)))

    def groups(self, cluster: str, groups: Sequence[str]) -> list[GroupState | None]:
        """Return several groups at once, as `group` returns one; [] for none."""
        if not groups:
            return []
        keys = [group_key(cluster, each) for each in groups]
        texts = cast("list[object]", self.client.mget(keys))
        return [cast("GroupState | None", read_object(text)) for text in texts]

    def ask_to_write(self) -> None:
        """Raise the `redis.RedisError` of a cache that takes no writes."""
        self.client.set(PROBE_KEY, b"", px=1000)

    def watch(self, cluster: str, group: str, now: float) -> None:
        """Ask for the group to be swept each second until `now` + 15 s."""
        key = watch_key(cluster)
        with self.client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(key, {group: now + WATCH_SECONDS})
            pipeline.expire(key, WATCHES_KEPT_SECONDS)
            pipeline.execute()

    def want_documents(self, cluster: str, groups: Sequence[str], now: float) -> None:
        """Ask for documents of groups with each sweep of all, until `now` + 300 s.

        On a large cluster other groups have one only while they are watched.
        """
        if not groups:
            return
        key = scraped_key(cluster)
        with self.client.pipeline(transaction=False) as pipeline:
            pipeline.zadd(key, dict.fromkeys(groups, now + SCRAPED_SECONDS))
            pipeline.expire(key, round(SCRAPED_SECONDS))
            pipeline.execute()


class LeaderState:
    """Writes a cluster's documents while its lease is held, as described above."""

    def __init__(self, client: redis.asyncio.Redis, cluster: str, token: str) -> None:
        self.client = client
        self.cluster = cluster
        self.token = token
        self._write = client.register_script(_WRITE_AS_LEADER)
        self._delete = client.register_script(_DELETE_AS_LEADER)

    async def write(self, documents: Mapping[str, bytes]) -> bool:
        """Store encoded documents by key; False when the lead was lost."""
        if not documents:
            return True
        done = await self._write(
            keys=[lease_key(self.cluster), *documents],
            args=[self.token, DOCUMENT_SECONDS, *documents.values()],
        )
        return bool(done)

    async def delete(self, keys: list[str]) -> bool:
        """Remove documents of groups that are gone; False when the lead was lost."""
        if not keys:
            return True
        done = await self._delete(
            keys=[lease_key(self.cluster), *keys], args=[self.token]
        )
        return bool(done)

    async def gone_brokers(self) -> set[str]:
        """Return the brokers that somebody said are gone for good."""
        asked = self.client.hkeys(gone_key(self.cluster))
        return {name.decode() for name in await cast("Awaitable[list[bytes]]", asked)}

    async def forget_gone_brokers(self, names: Collection[str]) -> None:
        """Drop the declarations that some brokers are gone."""
        if names:
            removed = self.client.hdel(gone_key(self.cluster), *names)
            await cast("Awaitable[int]", removed)

    async def scraped(self, now: float) -> frozenset[str]:
        """Return the groups whose documents are wanted with each sweep of all."""
        return frozenset(await self._standing(scraped_key(self.cluster), now))

    async def watched(self, now: float) -> dict[str, float]:
        """Return the groups watched now, each with the end of its watch."""
        return await self._standing(watch_key(self.cluster), now)

    async def _standing(self, key: str, now: float) -> dict[str, float]:
        await self.client.zremrangebyscore(key, "-inf", f"({now}")
        pairs = await self.client.zrange(key, 0, -1, withscores=True)
        return {name.decode(): until for name, until in pairs}


def _object_text(text: object) -> bytes | None:
    """Return a text that is passed on as it is; None for what is not an object."""
    found = cast("bytes | None", text)
    return found if found and found.startswith(b"{") else None


@lru_cache(maxsize=4)
def _client(url: str) -> redis.Redis:
    return redis.Redis.from_url(
        url,
        socket_timeout=SOCKET_TIMEOUT_SECONDS,
        socket_connect_timeout=SOCKET_TIMEOUT_SECONDS,
    )


def live_state() -> LiveState:
    """Return the reader of the cache named by the settings, one per process."""
    return LiveState(_client(settings.ROCKETSCOPE_REDIS_URL))


def make_async_client(url: str) -> redis.asyncio.Redis:
    """Return a client for one event loop; the caller closes it with `aclose`."""
    return redis.asyncio.Redis.from_url(
        url,
        socket_timeout=SOCKET_TIMEOUT_SECONDS,
        socket_connect_timeout=SOCKET_TIMEOUT_SECONDS,
    )
