"""Judges the rules of alerts with each look, and writes what begins and ends.

The engine is pure (`dashboard.alerting.engine`); this gives it what the collector has
seen, writes its news in the keeper's thread, and has the messages sent. News that could
not be written wait, and so does what they would have told. A fault in here holds up no
sweep, and is shown beside the rules.
"""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, Final, cast

import orjson
import redis.asyncio
from django.db import DatabaseError

from dashboard.accounts.owners import NOBODY, owners
from dashboard.alerting.engine import Engine, News
from dashboard.alerting.looks import BrokerLook, GroupLook
from dashboard.alerting.records import keep_up, load_open, write_news
from dashboard.alerting.rules import Rule, active_rules
from dashboard.clock.moments import moment_of
from dashboard.live.documents import OverviewRow
from dashboard.live.names import alert_memory_key, alerting_key

from .group_document import Sight
from .keeping import Keeper
from .presence import BrokerState

logger = logging.getLogger(__name__)

_FAST: Final = 1
_VERSION: Final = 1

Store = Callable[[Mapping[str, bytes]], Awaitable[None]]


class AlertWatch:
    """The alerts of one cluster, for as long as one lead."""

    def __init__(
        self,
        cluster: str,
        keeper: Keeper,
        now_ms: Callable[[], int],
        wake_sender: Callable[[], None],
    ) -> None:
        self._cluster = cluster
        self._keeper = keeper
        self._now_ms = now_ms
        self._wake_sender = wake_sender
        self._engine = Engine(cluster)
        self._rules: list[Rule] = []
        self._owners = NOBODY
        self._writing = asyncio.Lock()
        self._fault = ""
        self._was_idle = False

    @property
    def urgent(self) -> frozenset[str]:
        """The groups that are to be looked at each second for the sake of alerts."""
        return self._engine.urgent()

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to judge."""
        return self._engine.is_idle

    async def load_earlier(self, client: redis.asyncio.Redis) -> None:
        """Continue from what the database has open, and what an earlier leader left."""
        found = await self._keeper.call(lambda: load_open(self._cluster))
        packed = await client.get(alert_memory_key(self._cluster))
        try:
            self._engine.restore(_unpacked(packed), found)
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            logger.warning(
                "cluster=%s memory of the last leader's alerts: %r",
                *(self._cluster, error),
            )
            self._engine = Engine(self._cluster)
            self._engine.restore(None, found)

    async def load_rules(self) -> None:
        """Take the rules as they are now; those last read stay if that fails."""
        try:
            self._rules = await self._keeper.call(lambda: active_rules(self._cluster))
            if any(rule.team for rule in self._rules):
                self._owners = await self._keeper.call(lambda: owners(self._cluster))
        except DatabaseError as error:
            logger.warning("cluster=%s rules not read: %s", self._cluster, error)
        self._engine.set_rules(self._rules, self._now_ms(), self._owners)

    def look(
        self, sight: Sight, row: OverviewRow, dead_letters: int | None, at_ms: int
    ) -> None:
        """Judge the rules that are about a group; the look was taken at `at_ms`."""
        if self._engine.is_idle:
            return
        try:
            self._engine.look(_group_look(sight, row, dead_letters, at_ms))
        except Exception as error:
            self._failed(f"rules about {row['group']!r}", error)

    async def write(self) -> None:
        """Write what has begun and ended since the last time."""
        async with self._writing:
            await self._write()

    async def settle(
        self,
        brokers: Iterable[BrokerState],
        names: Collection[str],
        store: Store,
    ) -> None:
        """End a sweep of all: judge brokers, do what is due, leave how it stands.

        `names` are the groups that are there.
        """
        engine, now_ms = self._engine, self._now_ms()
        if engine.is_idle:
            if self._was_idle:
                return  # nothing to take back, either
            self._was_idle = True
        else:
            self._was_idle = False
        engine.look_at_brokers([_broker_look(each, now_ms) for each in brokers], now_ms)
        engine.drop_all_but(names, now_ms)
        async with self._writing:
            await self._write()
            await self._keep_up()
        document = engine.document(now_ms)
        if self._fault:
            document["fault"] = self._fault
        self._fault = ""
        memory = {"version": _VERSION, **engine.dump()}
        packed = await asyncio.to_thread(
            lambda: zlib.compress(orjson.dumps(memory), _FAST)
        )
        await store(
            {
                alerting_key(self._cluster): orjson.dumps(document),
                alert_memory_key(self._cluster): packed,
            }
        )

    async def _write(self) -> None:
        news = self._engine.take_news()
        if not news:
            return
        left = await self._not_written(news)
        if len(left) > 0 and len(news) > 1:
            # What cannot be written of one group must not hold up the others.
            left = [each for one in news for each in await self._not_written([one])]
        self._engine.put_back(left)
        if len(left) < len(news):
            self._wake_sender()

    async def _not_written(self, news: list[News]) -> list[News]:
        """Write news together; return them if they were not written."""
        now = moment_of(self._now_ms())
        try:
            await self._keeper.call(lambda: write_news(self._cluster, news, now))
        except Exception as error:
            self._failed("what began and ended", error)
            return news
        return []

    async def _keep_up(self) -> None:
        now, rules = moment_of(self._now_ms()), self._rules
        try:
            if await self._keeper.call(lambda: keep_up(self._cluster, rules, now)):
                self._wake_sender()
        except Exception as error:
            self._failed("what is due", error)

    def _failed(self, what: str, error: Exception) -> None:
        if not self._fault:
            logger.error(
                "cluster=%s alerts: %s failed: %r",
                *(self._cluster, what, error),
                exc_info=error,
            )
        self._fault = f"{what}: {error}"


def _unpacked(packed: bytes | None) -> Mapping[str, Any] | None:
    if packed is None:
        return None
    memory = cast("dict[str, Any]", orjson.loads(zlib.decompress(packed)))
    return memory if memory["version"] == _VERSION else None


def _group_look(
    sight: Sight, row: OverviewRow, dead_letters: int | None, at_ms: int
) -> GroupLook:
    return GroupLook(
        at_ms=at_ms,
        row=row,
        table=sight.group.queues,
        owners=[each.owners for each in sight.ownership.rows],
        rates_out=sight.rates.rows_out,
        findings=sight.findings,
        rules=sight.rules,
        dead_letters=dead_letters,
        silent=tuple(
            member.client_id
            for member in sight.group.members
            if member.asked_at_ms is not None
            and (member.answered_at_ms or 0) < member.asked_at_ms
        ),
    )


def _broker_look(state: BrokerState, now_ms: int) -> BrokerLook:
    return BrokerLook(
        at_ms=now_ms,
        name=state.name,
        condition=state.condition,
        since_ms=state.since_ms,
        address=state.snapshot.asked_address,
        error=state.snapshot.error,
    )
