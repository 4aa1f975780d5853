"""Stores the lasting results of a sweep: epochs and events, samples for the lake.

Work on the database and on files blocks, so it is done in order in a separate thread.
What the database refuses is kept and retried with the next sweep, up to a limit; the
lake's writer keeps its own rows.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from django.db import DatabaseError

from analytics import contracts as c
from analytics.lake.naming import MINUTE_MS
from analytics.lake.writer import MAX_PENDING_ROWS, LandingWriter
from dashboard.fleet.strategies import simulated_options
from dashboard.gateway.database_thread import DatabaseThread
from dashboard.live.documents import DatabaseFault, LakeFault
from rmqcore.model.snapshot import KnownBroker

from .epochs import Epoch, EpochBook, EpochTurn, Membership
from .handovers import LastOwners
from .known_brokers import load_brokers, save_brokers
from .records import (
    GroupHandover,
    load_books,
    load_last_owners,
    save_ends,
    save_handovers,
    save_learned,
    save_turns,
)
from .samples import SampleColumns

logger = logging.getLogger(__name__)

T = TypeVar("T")

PENDING_LIMIT: Final = 50_000
"""Epochs and events that wait; an epoch of a large group has some 100 KB."""
ROWS_PER_WRITE: Final = 2_000
TOLD_EVERY_MS: Final = 60_000
"""How often it is logged that the lake still cannot be written."""


class Keeper:
    """Writes what the sweeps of one cluster found; owns one thread."""

    def __init__(self, cluster: str, cluster_id: int, lake: str, run_id: str) -> None:
        self.dropped = 0
        self.lake_error: str | None = None
        """Why the lake could not be written recently; None when it could."""
        self.database_error: str | None = None
        """Why the database took no epochs recently; None when it did."""
        self._told_ms = 0
        self._cluster = cluster
        self._cluster_id = cluster_id
        self._samples = LandingWriter(lake, c.SAMPLES, run_id=run_id)
        self._epochs = LandingWriter(
            lake, c.EPOCHS, run_id=run_id, max_pending_rows=PENDING_LIMIT
        )
        self._turns: deque[tuple[str, EpochTurn | Epoch]] = deque()
        self._handovers: deque[GroupHandover] = deque()
        self._ends: deque[tuple[str, Epoch]] = deque()
        self._brokers: dict[str, KnownBroker] = {}
        self._row_ms = 0
        self._rows: dict[int, dict[str, list[Any]]] = {}
        """Columns of epochs for the lake by their minute, added to it together: a table
        for each of thousands of epochs takes far more memory than its row."""
        self._closed = False
        self._thread = DatabaseThread(f"keeper-{cluster}")

    @property
    def pending_rows(self) -> int:
        """Rows that wait for the database or the lake."""
        return self._waiting + self._samples.pending_rows + self._epochs.pending_rows

    @property
    def lake_fault(self) -> LakeFault | None:
        """The fault that pages show while the lake cannot be written."""
        if self.lake_error is None:
            return None
        return {
            "error": self.lake_error,
            "pending_rows": self._samples.pending_rows + self._epochs.pending_rows,
            "dropped_rows": self.dropped,
        }

    @property
    def database_fault(self) -> DatabaseFault | None:
        """The fault that pages show while the database takes no epochs."""
        if self.database_error is None:
            return None
        return {"error": self.database_error, "pending_rows": self._waiting}

    @property
    def _waiting(self) -> int:
        return len(self._turns) + len(self._handovers) + len(self._ends)

    async def load_books(self) -> dict[str, EpochBook]:
        """Return the running epochs as the database has them."""
        return await self._thread.run(lambda: load_books(self._cluster_id))

    async def load_last_owners(self, since_ms: int) -> dict[str, LastOwners]:
        """Return what the events since a time say of who owns queues, by group."""
        return await self._thread.run(
            lambda: load_last_owners(self._cluster_id, since_ms)
        )

    async def load_brokers(self) -> list[KnownBroker]:
        """Return the brokers that the cluster was last seen to have."""
        found = await self._thread.run(lambda: load_brokers(self._cluster_id))
        self._brokers = {broker.name: broker for broker in found}
        return found

    async def keep_brokers(self, brokers: Sequence[KnownBroker]) -> None:
        """Write the brokers of the cluster where they differ from what was written."""
        now = {broker.name: broker for broker in brokers}
        changed = [b for name, b in now.items() if self._brokers.get(name) != b]
        gone = self._brokers.keys() - now.keys()
        if not changed and not gone:
            return
        try:
            await self._thread.run(
                lambda: save_brokers(self._cluster_id, changed, gone)
            )
        except DatabaseError as error:
            # The difference is found again after the next sweep.
            logger.warning("cluster=%s brokers not written: %s", self._cluster, error)
        else:
            self._brokers = now

    async def call(self, work: Callable[[], T]) -> T:
        """Run other blocking work in the same thread."""
        return await self._thread.run(work)

    def add_turn(self, group: str, turn: EpochTurn) -> None:
        """Keep a turn of epochs with the next `keep`."""
        self._turns.append((group, turn))

    def add_learned(self, group: str, epoch: Epoch) -> None:
        """Keep what was learned about a running epoch with the next `keep`."""
        self._turns.append((group, epoch))

    def add_end(self, group: str, epoch: Epoch) -> None:
        """Keep the end of an epoch that no other follows with the next `keep`."""
        self._ends.append((group, epoch))

    def add_handovers(self, handovers: Sequence[GroupHandover]) -> None:
        """Keep ownership events with the next `keep`."""
        self._handovers.extend(handovers)

    async def keep(self, samples: SampleColumns | None, now_ms: int) -> None:
        """Write what waits, and the samples of one sweep taken at `now_ms`."""
        await self._thread.run(lambda: self._keep(samples, now_ms))

    async def keep_turns(self, now_ms: int) -> None:
        """Write the epochs and events that wait, if any."""
        if self._waiting:
            await self._thread.run(lambda: self._keep(None, now_ms))

    async def close(self, now_ms: int) -> None:
        """Write everything that is left, and end the thread. May be called twice."""
        if self._closed:
            return
        self._closed = True
        await self._thread.run(lambda: self._last_words(now_ms))
        self._thread.close()

    def _keep(self, samples: SampleColumns | None, now_ms: int) -> None:
        turns = list(islice(self._turns, ROWS_PER_WRITE))
        handovers = list(islice(self._handovers, ROWS_PER_WRITE))
        try:
            self._save(turns, handovers, now_ms)
            self._save_ends(now_ms)
        except DatabaseError as error:
            logger.warning("cluster=%s epochs not written: %s", self._cluster, error)
            self.database_error = str(error)
            self._drop_beyond_limit()
        else:
            self.database_error = None
        if samples is not None and len(samples):
            self._samples.append(
                {c.CLUSTER: self._cluster, c.TIME: now_ms, **samples.columns}
            )
        self._flush(now_ms)

    def _save(
        self,
        turns: Sequence[tuple[str, EpochTurn | Epoch]],
        handovers: Sequence[GroupHandover],
        now_ms: int,
    ) -> None:
        if turns:
            save_turns(
                self._cluster_id,
                [(name, each) for name, each in turns if isinstance(each, EpochTurn)],
            )
            save_learned(
                self._cluster_id,
                [(name, each) for name, each in turns if isinstance(each, Epoch)],
            )
            for group, each in turns:
                self._turns.popleft()
                for epoch in _epochs_of(each):
                    self._write(group, epoch, now_ms)
        if handovers:
            save_handovers(self._cluster_id, handovers)
            for _ in handovers:
                self._handovers.popleft()

    def _save_ends(self, now_ms: int) -> None:
        if self._turns:
            # An end comes after the turns of its group.
            return
        ends = list(islice(self._ends, ROWS_PER_WRITE))
        if not ends:
            return
        save_ends(self._cluster_id, ends)
        for group, epoch in ends:
            self._ends.popleft()
            self._write(group, epoch, now_ms)

    def _write(self, group: str, epoch: Epoch, now_ms: int) -> None:
        """Add an epoch's row for the lake, newer than all earlier ones.

        The newest row counts; sweeps overlap, and one may have two rows of an epoch.
        """
        self._row_ms = max(now_ms, self._row_ms + 1)
        row = epoch_columns(self._cluster, group, epoch, self._row_ms)
        minute = self._rows.setdefault(self._row_ms // MINUTE_MS, {})
        for name, values in row.items():
            minute.setdefault(name, []).extend(values)

    def _flush(self, now_ms: int, *, force: bool = False) -> None:
        rows, self._rows = self._rows, {}
        for columns in rows.values():
            self._epochs.append(columns)
        errors: list[str] = []
        dropped = 0
        for writer in (self._samples, self._epochs):
            report = writer.flush(now_ms, force=force)
            dropped += report.dropped_rows
            if report.error:
                errors.append(report.error)
        self.dropped += dropped
        before, self.lake_error = self.lake_error, errors[0] if errors else None
        waiting = self._samples.pending_rows + self._epochs.pending_rows
        if dropped:
            logger.error(
                "cluster=%s %d rows given up: the lake cannot be written (%s) and "
                "memory holds no more than %d samples and %d epochs",
                *(self._cluster, dropped, self.lake_error),
                *(MAX_PENDING_ROWS, PENDING_LIMIT),
            )
        if self.lake_error is None:
            if before is not None:
                logger.info("cluster=%s the lake is written again", self._cluster)
        elif self.lake_error != before or now_ms >= self._told_ms + TOLD_EVERY_MS:
            self._told_ms = now_ms
            logger.warning(
                "cluster=%s the lake cannot be written (%s): %d rows wait in memory, "
                "which holds %d samples and %d epochs before the oldest are given up",
                *(self._cluster, self.lake_error, waiting),
                *(MAX_PENDING_ROWS, PENDING_LIMIT),
            )

    def _drop_beyond_limit(self) -> None:
        for waiting in (self._turns, self._handovers, self._ends):
            while len(waiting) > PENDING_LIMIT:
                waiting.popleft()
                self.dropped += 1

    def _last_words(self, now_ms: int) -> None:
        self._keep(None, now_ms)
        self._flush(now_ms, force=True)
        if self.pending_rows:
            logger.error(
                "cluster=%s %d rows are lost: neither lake (%s) nor database took them "
                "before the end",
                *(self._cluster, self.pending_rows, self.lake_error or "written"),
            )


def _epochs_of(news: EpochTurn | Epoch) -> list[Epoch]:
    if isinstance(news, Epoch):
        return [news]
    return [epoch for epoch in (news.ended, news.begun) if epoch is not None]


def epoch_columns(
    cluster: str, group: str, epoch: Epoch, now_ms: int
) -> Mapping[str, Any]:
    """Return one epoch as a row of the lake's data set."""
    membership = epoch.membership
    named = membership.strategy
    return {
        c.CLUSTER: [cluster],
        c.GROUP: [group],
        c.EPOCH: [epoch.number],
        c.TIME: [now_ms],
        c.BEGAN_AFTER: [epoch.began_after_ms],
        c.BEGAN: [epoch.began_by_ms],
        c.ENDED: [epoch.ended_after_ms],
        c.ENDED_BEFORE: [epoch.ended_by_ms],
        c.MODE: [None if membership.mode is None else str(membership.mode)],
        c.STRATEGY: [named],
        c.STRATEGY_SOURCE: ["reported" if named else None],
        c.OPTIONS: [_options(group, membership)],
        c.MEMBERS: [
            [
                {
                    c.CLIENT_ID: member.client_id,
                    c.STRATEGY: member.strategy,
                    c.SUBSCRIPTIONS: None
                    if member.subscriptions is None
                    else [
                        {c.TOPIC: topic, c.EXPRESSION: tags}
                        for topic, tags in member.subscriptions
                    ],
                }
                for member in membership.members
            ]
        ],
        c.QUEUES: [
            [
                {c.TOPIC: topic, c.BROKER: broker, c.QUEUE_ID: number}
                for topic, broker, number in membership.queues
            ]
        ],
    }


def _options(group: str, membership: Membership) -> str | None:
    if membership.options is None or membership.strategy is None:
        return None
    told = simulated_options(
        membership.strategy,
        json.loads(membership.options),
        group=group,
        client_ids=membership.client_ids,
        queues=membership.queues,
    )
    return json.dumps(told)
