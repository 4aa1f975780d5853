"""Reads the truth from brokers, and what a page would show from the dashboard.

Runs on one event loop. Documents come as a page gets them: loaded over REST, then
changed by what the live socket tells; a gap means that they are loaded anew.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast
from urllib.parse import quote

import orjson
import websockets

from benchmarks.session import Session
from benchmarks.seven_groups import BY_NAME, GROUPS, Group
from rmqcore.errors import RmqError
from rmqcore.protocol.bodies import (
    decode_cluster_info,
    decode_consumer_offsets,
    decode_topic_stats,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ChannelPool

from .truth import Truth

READ_EVERY_S: Final = 0.5
ANSWER_S: Final = 2.0
PAUSE_S: Final = 1.0
NAMESERVER: Final = "nameserver"

Document = dict[str, Any]


class Naming:
    """Which brokers the name server names, and since when without a break.

    One that wakes may name a broker at first and then drop it, whose registrations
    were lost meanwhile, until it registers anew.
    """

    def __init__(self, brokers: Iterable[str]) -> None:
        self.read_ms = 0
        self._since_ms: dict[str, int | None] = dict.fromkeys(brokers)

    def read(self, named: Collection[str], at_ms: int) -> None:
        """Take an answer of the name server."""
        self.read_ms = at_ms
        for broker, since_ms in self._since_ms.items():
            self._since_ms[broker] = (since_ms or at_ms) if broker in named else None

    def all_since(self) -> int | None:
        """Return since when all are named; None while one is not."""
        since = [each for each in self._since_ms.values() if each is not None]
        return max(since) if len(since) == len(self._since_ms) else None


class Reader:
    """Asks brokers and the name server themselves, each in its own turn."""

    def __init__(
        self,
        truth: Truth,
        nameserver: str,
        brokers: Mapping[str, str],
        groups: Sequence[Group] = GROUPS,
    ) -> None:
        self.naming = Naming(brokers)
        self._truth = truth
        self._nameserver = nameserver
        self._brokers = brokers
        self._groups = groups
        self._pool = ChannelPool(connect_timeout=ANSWER_S)

    async def run(self) -> None:
        """Read for ever; what does not answer is asked again."""
        try:
            async with asyncio.TaskGroup() as reading:
                for name, address in self._brokers.items():
                    reading.create_task(_over_and_over(self._broker, name, address))
                reading.create_task(
                    _over_and_over(self._servers, NAMESERVER, self._nameserver)
                )
        finally:
            await self._pool.close()

    async def _broker(self, name: str, address: str) -> None:
        for group in self._groups:
            asked_ms = now_ms()
            fields = {"topic": group.topic}
            body = await self._ask(address, Code.GET_TOPIC_STATS_INFO, fields)
            for queue, offsets in decode_topic_stats(body).by_queue().items():
                key = (queue.topic, name, queue.queue_id)
                self._truth.read_max(key, asked_ms, now_ms(), offsets.max_offset)
        asked_ms = now_ms()
        body = await self._ask(address, Code.GET_ALL_CONSUMER_OFFSET, {})
        for names, committed in decode_consumer_offsets(body).offsets.items():
            topic, _, group_name = names.partition("@")
            known = BY_NAME.get(group_name)
            if known is None or topic != known.topic:
                continue
            for queue_id, offset in committed.items():
                key = (topic, name, int(queue_id))
                self._truth.read_committed(group_name, key, asked_ms, now_ms(), offset)
        self._truth.answered_ms[name] = now_ms()

    async def _servers(self, name: str, address: str) -> None:
        body = await self._ask(address, Code.GET_BROKER_CLUSTER_INFO, {})
        self._truth.answered_ms[name] = now_ms()
        self.naming.read(decode_cluster_info(body).brokers, now_ms())

    async def _ask(self, address: str, code: Code, fields: dict[str, str]) -> bytes:
        request = RemotingCommand.request(code, fields)
        return (await self._pool.request(address, request, ANSWER_S)).body


class Page:
    """The documents that a page of each group, and of the cluster, would hold now."""

    def __init__(
        self, session: Session, cluster: str, groups: Collection[str] = tuple(BY_NAME)
    ) -> None:
        self.groups: dict[str, Document] = {}
        self.overview: Document | None = None
        self.fed_ms: dict[str, int] = {}
        """When the socket last told of a change of each group."""
        self._names = groups
        self._session = session
        self._cluster = cluster

    async def run(self) -> None:
        """Follow the groups and the list for ever; a broken socket is opened anew."""
        async with asyncio.TaskGroup() as following:
            following.create_task(self._follow())
            following.create_task(self._reload_overview())

    async def _follow(self) -> None:
        url = self._session.address.replace("http", "ws", 1) + "/ws/live/"
        headers = {"Cookie": self._session.cookies, "Origin": self._session.address}
        while True:
            with suppress(OSError, websockets.WebSocketException):
                async with websockets.connect(
                    url, additional_headers=headers, open_timeout=60, compression=None
                ) as socket:
                    for name in self._names:
                        await socket.send(
                            orjson.dumps(
                                {
                                    "op": "watch",
                                    "cluster": self._cluster,
                                    "group": name,
                                }
                            ).decode()
                        )
                    async for message in socket:
                        await self._take(orjson.loads(message))
            await asyncio.sleep(PAUSE_S)

    async def _take(self, message: Document) -> None:
        name = message.get("group", "")
        known = self.groups.get(name)
        if message["type"] == "watching":
            await self._load(name)
        elif message["type"] == "update":
            self.fed_ms[name] = now_ms()
            if known is None or known["run"] != message["run"]:
                await self._load(name)
            elif message["seq"] == known["seq"] + 1:
                self.groups[name] = updated(known, message)
            elif message["seq"] > known["seq"]:
                await self._load(name)

    async def _load(self, name: str) -> None:
        loaded = await self._get(f"groups/{quote(name)}")
        if loaded is not None:
            self.groups[name] = loaded

    async def _reload_overview(self) -> None:
        while True:
            loaded = await self._get("overview")
            self.overview = loaded or self.overview
            await asyncio.sleep(PAUSE_S)

    async def _get(self, path: str) -> Document | None:
        whole = f"/api/v1/clusters/{quote(self._cluster)}/{path}"
        with suppress(OSError):
            status, body = await asyncio.to_thread(self._session.get, whole)
            if status == 200:
                return cast("Document", orjson.loads(body))
        return None


def updated(before: Document, update: Document) -> Document:
    """Return a group's document with an update's changes in place."""
    changes = dict(update["changes"])
    queues = changes.pop("queues", {})
    rows = {_key(queue): queue for queue in before["queues"]}
    for key, row in queues.items():
        if row is None:
            rows.pop(key, None)
        else:
            rows[key] = row
    return {
        **before,
        **changes,
        "run": update["run"],
        "seq": update["seq"],
        "queues": [rows[key] for key in sorted(rows)],
    }


def now_ms() -> int:
    """Return the time by the machine's clock, as all processes here have it."""
    return round(time.time() * 1000)


def _key(queue: Document) -> str:
    return f"{queue['topic']}|{queue['broker']}|{queue['queue_id']}"


async def _over_and_over(
    read: Callable[[str, str], Awaitable[None]], name: str, address: str
) -> None:
    while True:
        with suppress(RmqError, OSError):
            await read(name, address)
        await asyncio.sleep(READ_EVERY_S)
