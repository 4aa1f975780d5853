"""Collects one cluster, as its leader: when to look, and at what.

Three things make it look at the cluster: the tick of the watched groups (1 s), the tick
of all groups (10 s), and notices that a group changed (a fleet member's report, or a
changed group that is due for another look). A look that hears a broker which the list
shows as away triggers a sweep of all groups at once. A sweep that would overlap the
last of its kind is skipped and counted. A failure outside the collector is logged and
counted and ends with that sweep; the next one starts afresh.

Sweeps check the lease without asking the cache (`lease.Renewals` keeps it). A write
that is refused ends its sweep. Then the lease is asked for, and only if another
collector has led meanwhile is the known state dropped, in favour of what that collector
left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Final, Protocol

import redis.asyncio
from django.db import Error as DatabaseError

from dashboard.gateway.broker_runtime import Told
from dashboard.live.documents import Lateness
from dashboard.live.holdings import read_holding
from dashboard.live.numbering import Numbering, make_run_id
from dashboard.live.publishing import Publisher
from dashboard.live.state import LeaderState
from rmqcore.errors import RmqError
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import ClusterSnapshot, KnownBroker

from .ages import choose_questions
from .asking import Candidate, choose_asked, choose_watched
from .broker_watch import BrokerWatch
from .division import Division
from .early_sweeps import EarlySweeps
from .epochs import WantedStrategy
from .keeping import Keeper
from .known_brokers import gone_brokers
from .lateness import with_skipped
from .lead import Lead, LeadLostError
from .lease import Lease

logger = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS: Final = 0.4
"""After a change a group is asked again this soon: queues move within that time."""

ALL: Final = "all"
WATCHED: Final = "watched"

COALESCE_SECONDS: Final = 0.02
"""How long notices are gathered: those of a group's members lead to one look."""


class Source(Protocol):
    """Where snapshots come from: the gateway's connections to one cluster."""

    async def snapshot(self) -> ClusterSnapshot:
        """Sweep everything, asking no members."""

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        """Sweep some groups, asking their members what they hold."""

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Ask brokers about themselves, some for settings, masters for their slaves."""

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        """Return ages (ms) of first unconsumed messages, by group and queue.

        `wanted` has pairs of group and topic by broker; ages not told are left out.
        """

    def known_brokers(self) -> Sequence[KnownBroker]:
        """Return the brokers that were seen, including those that are missing."""

    def remember_brokers(self, brokers: Sequence[KnownBroker]) -> None:
        """Take brokers that were known before."""

    def forget_broker(self, name: str) -> bool:
        """Treat a missing broker as gone; False when it is not missing."""

    def note_member(self, group: str, client_id: str, *, left: bool) -> None:
        """Take a member's own word that it is in its group, or has left it."""


@dataclass(slots=True)
class Figures:
    """The collector's counts about itself, for /metrics."""

    sweeps: int = 0
    skipped: int = 0
    failed: int = 0
    refused: int = 0
    leads: int = 0
    leading: int = 0
    lapses: int = 0
    groups: int = 0
    watched: int = 0
    watched_beyond: int = 0
    sweep_ms: int = 0
    watched_ms: int = 0
    faults: int = 0
    faulty_groups: int = 0


class ClusterCollector:
    """The collector of one cluster; runs on one event loop."""

    def __init__(
        self,
        cluster: str,
        source: Source,
        *,
        client: redis.asyncio.Redis,
        layer: Any,
        keeper: Keeper,
        holder: str,
        wanted_strategies: Callable[[], Mapping[str, WantedStrategy]],
        now_ms: Callable[[], int],
        chance: Random,
        wake_sender: Callable[[], None],
        division: Division | None = None,
    ) -> None:
        """Without a `division` every lease that is free is taken, and none given up."""
        self.cluster = cluster
        self.figures = Figures()
        self._source = source
        self._client = client
        self._layer = layer
        self.keeper = keeper
        self.lease = Lease(client, cluster, holder)
        self._wanted_strategies = wanted_strategies
        self._now_ms = now_ms
        self._chance = chance
        self._division = division
        self._wake_sender = wake_sender
        """Has the messages of alerts sent."""
        self._broker_watch = BrokerWatch(cluster, source, now_ms)
        self._lead: Lead | None = None
        self._token = ""
        """The lease's token at the beginning of the lead."""
        self._leading = asyncio.Lock()
        self._running: set[str] = set()
        self._looks = 0
        """Looks at single groups that are under way."""
        self._no_looks = asyncio.Event()
        self._no_looks.set()
        self._handing_on = False
        self._skipped_since = 0
        self._noticed: set[str] = set()
        self._notice = asyncio.Event()
        self._keeping: asyncio.Future[None] | None = None
        self._early = EarlySweeps(lambda: self._sweep_and_check(None), self._lacking)

    async def sweep_all(self, late: Lateness | None = None) -> None:
        """Look at every group, write the overview, and ask some members.

        `late` says how far behind its time this sweep is, if it is.
        """
        if self._early.under_way is not None:
            return  # that sweep does the work of this tick
        self._early.begin_anew()
        await self._sweep_and_check(late)

    async def sweep_watched(self) -> None:
        """Look at the watched groups and ask their members."""
        await self._once(WATCHED, self._sweep_watched)

    def take_holding(self, text: bytes) -> None:
        """Take a fleet member's report, and have its group looked at if it changed."""
        if self._lead is None:
            return
        holding = read_holding(text)
        if holding is None:
            return
        self._source.note_member(holding.group, holding.client_id, left=holding.left)
        if self._lead.take_holding(holding):
            self.notice(holding.group)

    def notice(self, group: str) -> None:
        """Have a group looked at as soon as possible."""
        self._noticed.add(group)
        self._notice.set()

    async def follow_notices(self) -> None:
        """Look at noticed groups, forever; several notices become one look."""
        while True:
            await self._notice.wait()
            await asyncio.sleep(COALESCE_SECONDS)
            names = frozenset(self._noticed)
            self._noticed.clear()
            self._notice.clear()
            await self._guarded("noticed", self._look_at(names))

    async def at_rest(self) -> None:
        """Wait for the looks and writes that were started in the background."""
        await self._broker_watch.at_rest()
        begun = (self._early.under_way, self._keeping)
        started = {each for each in begun if each is not None}
        if started:
            await asyncio.wait(started)

    async def close(self) -> None:
        """Give the lead up and write what is left."""
        await self._broker_watch.close()
        await self._early.close()
        with suppress(redis.RedisError, OSError):
            await self.lease.release()
        self._lead = None
        if self._keeping is not None:
            await self._keeping
        await self.keeper.close(self._now_ms())

    # Sweeps

    async def _once(
        self, kind: str, sweep: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        if kind in self._running:
            self.figures.skipped += 1
            self._skipped_since += kind == ALL
            return
        self._running.add(kind)
        try:
            await self._guarded(kind, sweep())
        finally:
            self._running.discard(kind)

    async def _guarded(self, kind: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except LeadLostError:
            self.figures.refused += 1
            logger.warning(
                "cluster=%s sweep=%s refused: the lease had run out", self.cluster, kind
            )
            self.lease.doubt()
        except (RmqError, redis.RedisError, OSError) as error:
            self.figures.failed += 1
            logger.warning("cluster=%s sweep=%s failed: %s", self.cluster, kind, error)
        except Exception:
            self.figures.failed += 1
            logger.exception("cluster=%s sweep=%s failed", self.cluster, kind)

    async def _sweep_all(self, late: Lateness | None) -> None:
        lead = await self._hold_lead()
        if lead is None:
            if self.keeper.pending_rows:  # of a lead that is over
                await self.keeper.keep(None, self._now_ms())
            return
        began = self._now_ms()
        try:
            lead.wanted_strategies = await self.keeper.call(self._wanted_strategies)
        except DatabaseError as error:
            # Those last read are kept; what the cluster shows does not depend on them.
            logger.warning("cluster=%s wishes not read: %s", self.cluster, error)
        await lead.alerts.load_rules()
        await self._forget_gone()
        asked = self._broker_watch.begin(lead.store)
        try:
            snapshot = await self._source.snapshot()
        except RmqError as error:
            await lead.publish_failure(str(error))
            # Or a cluster that cannot be reached would never be given up.
            await self._leave(lead, None)
            raise
        if not asked:  # no broker was known before this sweep
            self._broker_watch.begin(lead.store)
        watched = await self._watched(snapshot.groups)
        lead.scraped = await self._state().scraped(self._now_ms() / 1000)
        changed = await lead.apply(
            snapshot, snapshot.groups, asked=False, watched=watched
        )
        lead.swept = True
        await self._ask_some(lead, snapshot, changed, watched)
        await lead.drop_all_but(snapshot)
        skipped, self._skipped_since = self._skipped_since, 0
        # A fault in it must not hold up the list of groups.
        await self._guarded("topics", lead.publish_topics(snapshot))
        await lead.publish_overview(snapshot, with_skipped(late, skipped))
        await self._guarded("alerts", lead.settle_alerts())
        await self.keeper.keep(lead.take_samples(snapshot), snapshot.taken_at_ms)
        await self.keeper.keep_brokers(self._source.known_brokers())
        self.figures.sweeps += 1
        self.figures.faults = lead.faults.count
        self.figures.faulty_groups = len(lead.faults)
        self.figures.groups = len(snapshot.groups)
        self.figures.sweep_ms = self._now_ms() - began
        # The sweep is done: a later failure must not undo it.
        await self._guarded("memory", self._leave(lead, snapshot))
        if lead is self._lead:
            await self._guarded("ages", self._ask_ages(lead))

    async def _leave(self, lead: Lead, snapshot: ClusterSnapshot | None) -> None:
        """Leave what is known to the next leader, and the lead if it is surplus.

        A sweep that failed has no `snapshot`; then the memory that was left holds.
        """
        if self._division is None or not await self._division.gives_up(self.cluster):
            if snapshot is not None:
                await lead.publish_memory(snapshot)
            return
        # Looks that go on would come to know more than what is left.
        self._handing_on = True
        try:
            await self._no_looks.wait()
            if self._keeping is not None:
                await self._keeping
            if snapshot is None:
                await self.keeper.keep_turns(self._now_ms())
            else:
                await lead.publish_memory(snapshot)
            if self.keeper.database_error is not None:
                return  # the next leader would not know what waits to be written
            async with self._leading:
                await self.lease.release()
                self._lead, self._token = None, ""
                self.figures.leading = 0
            logger.info("cluster=%s given up to another collector", self.cluster)
        finally:
            self._handing_on = False

    async def _forget_gone(self) -> None:
        """Drop the brokers that are gone: declared so by a person, or after a day."""
        state = self._state()
        said = await state.gone_brokers()
        known = self._source.known_brokers()
        for name in gone_brokers(known, said, self._now_ms()):
            if self._source.forget_broker(name):
                logger.info("cluster=%s broker=%r is gone for good", self.cluster, name)
        await state.forget_gone_brokers(said)

    async def _sweep_watched(self) -> None:
        lead = await self._hold_lead()
        if lead is None:
            return
        if not lead.swept:
            await self.sweep_all()
            return
        began = self._now_ms()
        await self._look_at(await self._watched(lead.groups))
        self.figures.watched_ms = self._now_ms() - began

    async def _look_at(self, names: frozenset[str]) -> None:
        """Ask the members of some groups, and publish what is seen."""
        lead = self._lead
        if lead is None or not lead.swept or not names or self._handing_on:
            return
        self._looks += 1
        self._no_looks.clear()
        try:
            await self._look_with(lead, names)
        finally:
            self._looks -= 1
            if not self._looks:
                self._no_looks.set()

    async def _look_with(self, lead: Lead, names: frozenset[str]) -> None:
        snapshot = await self._source.groups(names)
        found = [name for name in names if name in snapshot.groups]
        changed = await lead.apply(snapshot, found, asked=True, watched=names)
        await lead.alerts.write()
        # Watchers see the timeline move now, not after the next sweep of all. Not
        # waited for: a slow database must not hold up the next look.
        if self._keeping is None or self._keeping.done():
            work = self._guarded("keep", self.keeper.keep_turns(self._now_ms()))
            self._keeping = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        for name in changed:
            loop.call_later(LOOK_AGAIN_SECONDS, self.notice, name)
        self._early.check(self.figures.sweep_ms)

    async def _sweep_and_check(self, late: Lateness | None) -> None:
        earlier = self.figures.sweeps
        await self._once(ALL, lambda: self._sweep_all(late))
        if self.figures.sweeps != earlier:  # a sweep that failed waits for its tick
            self._early.check(self.figures.sweep_ms)

    def _lacking(self) -> Set[str] | None:
        """Return the groups that looks have found and the list lacks.

        None if it lacks nothing that looks have found, or while it is being made.
        """
        lead = self._lead
        if lead is None or not lead.list_is_behind or ALL in self._running:
            return None
        return lead.unlisted

    async def _ask_some(
        self,
        lead: Lead,
        snapshot: ClusterSnapshot,
        changed: Collection[str],
        watched: Collection[str],
    ) -> None:
        """Ask the members of groups that nobody watches, a bounded number of them."""
        chosen = choose_asked(
            Candidate(
                name,
                len(group.members),
                name in changed,
                group.queues.lag.total(),
                lead.groups[name].asked_at_ms,
            )
            for name, group in snapshot.groups.items()
            if name not in watched
        )
        if chosen:
            answers = await self._source.groups(chosen)
            found = [name for name in chosen if name in answers.groups]
            await lead.apply(answers, found, asked=True, watched=watched)

    async def _ask_ages(self, lead: Lead) -> None:
        """Ask for the ages of first unconsumed messages, a bounded number of times."""
        questions = choose_questions(lead.ages_due())
        if not questions:
            return
        wanted: dict[str, list[tuple[str, str]]] = {}
        for each in questions:
            wanted.setdefault(each.broker, []).append((each.group, each.topic))
        asked_at_ms = self._now_ms()
        lead.take_ages(questions, await self._source.ages(wanted), asked_at_ms)

    async def _watched(self, known: Collection[str]) -> frozenset[str]:
        watched = await self._state().watched(self._now_ms() / 1000)
        chosen, beyond = choose_watched(watched, known)
        self.figures.watched, self.figures.watched_beyond = len(chosen), beyond
        urgent = self._lead.alerts.urgent if self._lead is not None else frozenset()
        return chosen | urgent.intersection(known)

    def _state(self) -> LeaderState:
        return LeaderState(self._client, self.cluster, self._token)

    # The lead

    async def _hold_lead(self) -> Lead | None:
        """Return the lead, continued or newly taken; None while another leads."""
        async with self._leading:
            if not self.lease.fresh and await self._may_hold():
                await self.lease.hold(self._now_ms())
            token = self.lease.token
            if token != self._token:
                self._lead, self._token = None, token
            if token and self._lead is None:
                self._lead = await self._begin_lead(token)
            self.figures.leading = int(self._lead is not None)
            self.figures.lapses = self.lease.lapses
            return self._lead

    async def _may_hold(self) -> bool:
        # A lease of one's own that ran out is taken up again in any case.
        if self.lease.token or self._division is None:
            return True
        return await self._division.may_take(self.cluster)

    async def _begin_lead(self, token: str) -> Lead:
        state = LeaderState(self._client, self.cluster, token)
        lead = Lead(
            self.cluster,
            client=self._client,
            publisher=Publisher(state, self._layer),
            numbering=Numbering(make_run_id(self._now_ms(), self._chance)),
            books=await self.keeper.load_books(),
            keeper=self.keeper,
            now_ms=self._now_ms,
            wake_sender=self._wake_sender,
        )
        self._source.remember_brokers(await self.keeper.load_brokers())
        await lead.load_holdings()
        await lead.load_earlier()
        logger.info("cluster=%s run=%s leads", self.cluster, lead.run)
        self.figures.leads += 1
        return lead
