"""Hosts members on one event loop: carries out plans, runs timers, keeps claims.

Every second, and at once when told of a changed wish, it makes a plan from the database
and carries it out. Members start and stop concurrently in tasks of their own, so a slow
one delays neither the others nor the renewal of claims. Ticks run the six timers for
all members together; a slot whose tick is late is run without it.

The claims are checked four times a second. If neither the claims were renewed before
their end nor heartbeats went on (the process was stopped, or reached neither database
nor cache), the members are abandoned at once, before anything else acts for them; the
next plan claims them anew. A database that is locked or away, for however long, delays
wishes and what is written about members, but ends no member.

Claims in the database end by the wall clock, which all hosts share; what this worker
may do, and when it does something again, goes by a clock that cannot be set. After a
jump of the wall clock either every claim looks expired or none does; then no claim of
others is taken over until they have had the time to renew.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import redis.asyncio
from django.db import Error as DatabaseError

from dashboard.clock.ticks import FALLBACK, Tick, asked
from dashboard.gateway.read_only import check_writable
from dashboard.gateway.settings import ClusterSettings
from rmqcore.errors import ArgumentError, RmqError
from rmqcore.settled_clock import SettledClock
from rmqcore.timers import Schedule, Timer

from . import claims
from .announcing import Announcer
from .claims import Claim
from .heartbeats import BEAT_SECONDS, Beat, Heartbeats
from .hosted import HostedMember
from .planning import Plan, WorkerName, make_plan
from .runs import SlotRun, remove_old_runs, save_runs, skipped_run, slot_run
from .specs import MemberSpec
from .steady import Jumps, steady_seconds

logger = logging.getLogger(__name__)

PLAN_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 0.25
RETRY_START_SECONDS: Final = 5.0
SAVE_RUNS_SECONDS: Final = 5.0
MOST_UNSAVED: Final = 10_000
"""Runs of timers that wait while the database is away: some hours' worth."""


class FleetHost:
    """The members of one worker; see the module docstring.

    `database` runs blocking work in the worker's database thread, where `clusters` is
    asked with each plan: clusters come and go while the worker runs.
    """

    def __init__(
        self,
        worker: WorkerName,
        *,
        clusters: Callable[[], Mapping[str, ClusterSettings]],
        announcer: Announcer,
        client: redis.asyncio.Redis,
        database: Callable[[Callable[[], Any]], Awaitable[Any]],
        now: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_seconds,
    ) -> None:
        self.worker = worker
        self.hosted: dict[int, HostedMember] = {}
        self._read_clusters = clusters
        self._clusters: Mapping[str, ClusterSettings] = {}
        self._announcer = announcer
        self._heartbeats = Heartbeats(client, worker.name, steady)
        self._database = database
        self._now = now
        self._steady = steady
        self._jumps = Jumps(now() - steady())
        self._settled = SettledClock()
        self._schedule = Schedule(now())
        self._runs: list[SlotRun] = []
        self._saved_at = steady()
        self._unnoted: set[int] = set()
        """Members whose client or error could not be written to their rows yet."""
        self._out_since: float | None = None
        """Since when no plan could be made because the database refuses or is away."""
        self._busy: dict[int, asyncio.Task[None]] = {}
        self._retry_at: dict[int, float] = {}
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Make the next plan at once, because a wish has changed."""
        self._wake.set()

    async def follow(self) -> None:
        """Make plans and begin to carry them out, forever."""
        while True:
            self._wake.clear()
            await self.follow_once()
            try:
                async with asyncio.timeout(PLAN_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def follow_once(self) -> None:
        """Make a plan and begin to carry it out."""
        hosted = {member_id: member.claim for member_id, member in self.hosted.items()}
        asked, now_s = self._steady(), self._now()
        now = datetime.fromtimestamp(now_s, UTC)
        # After `now`, so that it tells who has let the claims run out that are over.
        beat = await self.say_alive()
        alive = None if beat is None else beat.alive
        if self._jumps.lately(now_s - asked, asked):
            alive = None
        try:
            plan, self._clusters = await self._database(
                lambda: (
                    make_plan(self.worker, hosted, now, alive),
                    self._read_clusters(),
                )
            )
        except DatabaseError as error:
            self._no_plan(error)
            return
        self._planned()
        self._begin(plan, asked - now_s)
        try:
            await self._save_runs()
        except DatabaseError as error:
            logger.warning("worker=%s runs not written: %s", self.worker.name, error)

    async def keep_alive(self) -> None:
        """Send a heartbeat every second, forever, whatever the database does.

        Plans send one, too, but a slow database holds them up.
        """
        while True:
            await self.say_alive()
            await asyncio.sleep(BEAT_SECONDS)

    async def say_alive(self) -> Beat | None:
        """Send a heartbeat, and let the members act for as long as it holds."""
        beat = await self._heartbeats.beat()
        if beat is not None:
            for member in self.hosted.values():
                member.keep(beat)
        return beat

    async def watch(self) -> None:
        """Abandon members whose claim has expired, and run late slots, forever."""
        while True:
            self.look_at_claims()
            for slot in self._schedule.overdue(self._now()):
                self.take(asked(slot, FALLBACK))
            await asyncio.sleep(WATCH_SECONDS)

    def look_at_claims(self) -> None:
        """Begin to abandon the members that may no longer act."""
        for member_id, member in list(self.hosted.items()):
            if not member.may_act:
                self._abandon(member_id, "its claim expired")

    def take(self, tick: Tick) -> None:
        """Run a slot unless it is over, has been run before, or is not this host's."""
        if not self._schedule.claim(tick, self._now()):
            return
        before = self._timers.get(tick.timer)
        if before is not None and not before.done():
            logger.warning(
                "timer=%s slot=%s: the last one still runs", tick.timer, tick.number
            )
            self._runs.append(skipped_run(tick, self._now()))
            return
        self._timers[tick.timer] = _spawn(self._run_timer(tick))

    async def close(self) -> None:
        """Leave all groups cleanly and give the members back."""
        for timer in self._timers.values():
            timer.cancel()
        everything = self.hosted.keys() | self._busy.keys()
        await asyncio.gather(*(self._leave(each) for each in everything))
        try:
            await self._save_runs(at_once=True)
            await self._database(lambda: claims.deregister_worker(self.worker.name))
        except DatabaseError as error:
            logger.warning("worker=%s not signed off: %s", self.worker.name, error)
        await self._heartbeats.end()

    # Carrying out a plan

    def _begin(self, plan: Plan, behind: float) -> None:
        """Begin what is planned; the steady clock was `behind` seconds behind."""
        for member_id, claim in plan.held.items():
            member = self.hosted.get(member_id)
            if member is not None and member.claim is not claim:
                member.renew(claim, claim.until.timestamp() + behind)
        for member_id in plan.lost:
            self._abandon(member_id, "another worker has its claim")
        for claim, spec in plan.new:
            self._host(claim, claim.until.timestamp() + behind, spec)
        for member_id in plan.stop:
            self._when_idle(member_id, partial(self._stop, member_id))
        for member_id, spec in plan.specs.items():
            self._keep_up(member_id, spec)

    def _host(self, claim: Claim, acts_until: float, spec: MemberSpec) -> None:
        """Create a member and begin to start it; its row says why if that fails."""
        try:
            member = HostedMember(
                spec,
                claim,
                acts_until,
                cluster=self._cluster(spec),
                announcer=self._announcer,
                now=self._now,
                steady=self._steady,
            )
        except RmqError as error:
            self._retry_later(claim.member_id)
            self._when_idle(
                claim.member_id, partial(self._give_back, claim, str(error))
            )
            return
        self.hosted[claim.member_id] = member
        self._when_idle(claim.member_id, partial(self._start, member))

    def _keep_up(self, member_id: int, spec: MemberSpec) -> None:
        """Bring a member in line with a changed wish, or start it again if it failed.

        If only the strategy has changed, it is switched in place: the member stays in
        its group and keeps the queues that both strategies give it.
        """
        member = self.hosted.get(member_id)
        if member is None or member_id in self._busy:
            return
        changed = member.spec.revision != spec.revision
        if changed and member.started and member.spec.differs_in_strategy_only(spec):
            self._switch(member, spec)
        elif changed:
            self._when_idle(member_id, partial(self._start_anew, member, spec))
        elif not member.started and self._steady() >= self._retry_at.get(member_id, 0):
            self._when_idle(member_id, partial(self._start, member))
        elif member.started and member_id in self._unnoted:
            self._when_idle(member_id, partial(self._note, member, ""))

    def _switch(self, member: HostedMember, spec: MemberSpec) -> None:
        try:
            member.switch(spec)
        except RmqError as error:
            # Starting anew records in the member's row why it is impossible.
            logger.warning("client=%s not switched: %s", member.client_id, error)
            self._when_idle(spec.member_id, partial(self._start_anew, member, spec))

    def _retry_later(self, member_id: int) -> None:
        now = self._steady()
        waiting = {each: at for each, at in self._retry_at.items() if at > now}
        self._retry_at = waiting | {member_id: now + RETRY_START_SECONDS}

    async def _start(self, member: HostedMember) -> None:
        error = ""
        try:
            await member.make_listener()
        except ArgumentError as failure:
            self.hosted.pop(member.spec.member_id, None)
            self._retry_later(member.spec.member_id)
            await self._give_back(member.claim, str(failure))
            return
        try:
            await member.start()
        except (RmqError, OSError) as failure:
            error = str(failure)
            self._retry_later(member.spec.member_id)
            logger.warning("client=%s not started: %s", member.client_id, failure)
        await self._note(member, error)

    async def _note(self, member: HostedMember, error: str) -> None:
        """Write to the member's row what became of its start, now or later."""
        member_id = member.spec.member_id
        self._unnoted.add(member_id)
        await self._database(
            lambda: claims.note_client(
                member.claim, self.worker.name, client_id=member.client_id, error=error
            )
        )
        self._unnoted.discard(member_id)

    async def _start_anew(self, member: HostedMember, spec: MemberSpec) -> None:
        await member.stop()
        self.hosted.pop(spec.member_id, None)
        self._busy.pop(spec.member_id, None)
        self._host(member.claim, member.acts_until, spec)

    async def _leave(self, member_id: int) -> None:
        """Stop a member; one that cannot be given back is free when its claim ends."""
        member = self.hosted.get(member_id)
        while (busy := self._busy.get(member_id)) is not None:
            if member is not None and not member.made:
                busy.cancel()
            await asyncio.wait([busy])
        try:
            await self._stop(member_id)
        except Exception:
            # The others are to leave cleanly nevertheless.
            logger.exception("member=%s did not leave cleanly", member_id)

    async def _stop(self, member_id: int) -> None:
        member = self.hosted.get(member_id)
        if member is None:
            return
        await member.stop()
        self.hosted.pop(member_id, None)
        await self._database(lambda: claims.release(member.claim, self.worker.name))

    async def _give_back(self, claim: Claim, error: str) -> None:
        logger.warning("member=%s cannot be hosted: %s", claim.member_id, error)
        await self._database(lambda: claims.refuse(claim, self.worker.name, error))

    def _no_plan(self, error: Exception) -> None:
        if self._out_since is None:
            self._out_since = self._steady()
            logger.warning(
                "worker=%s no plan, the members stay as they are: %s",
                *(self.worker.name, error),
            )

    def _planned(self) -> None:
        if self._out_since is not None:
            logger.info(
                "worker=%s plans again, after %.0f s without the database",
                *(self.worker.name, self._steady() - self._out_since),
            )
            self._out_since = None

    def _abandon(self, member_id: int, why: str) -> None:
        member = self.hosted.pop(member_id, None)
        if member is None:
            return
        logger.warning(
            "worker=%s client=%s abandoned: %s",
            self.worker.name,
            member.client_id,
            why,
        )
        busy = self._busy.pop(member_id, None)
        if busy is not None:
            busy.cancel()
        self._busy[member_id] = self._task(member_id, member.abandon())

    def _when_idle(
        self, member_id: int, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Begin work on a member unless something is being done with it already."""
        if member_id not in self._busy:
            self._busy[member_id] = self._task(member_id, work())

    def _task(
        self, member_id: int, work: Coroutine[Any, Any, None]
    ) -> asyncio.Task[None]:
        async def guarded() -> None:
            try:
                await work
            except Exception:
                logger.exception("member=%s work failed", member_id)

        task = _spawn(guarded())

        def forget(_task: asyncio.Task[None]) -> None:
            if self._busy.get(member_id) is task:
                del self._busy[member_id]

        task.add_done_callback(forget)
        return task

    def _cluster(self, spec: MemberSpec) -> ClusterSettings:
        cluster = self._clusters.get(spec.cluster)
        if cluster is None:
            raise RmqError(f"no cluster {spec.cluster!r} is configured")
        check_writable(cluster)
        return cluster

    # Timers

    async def _run_timer(self, tick: Tick) -> None:
        started, began = self._now(), time.monotonic()
        members = list(self.hosted.values())
        answers = await asyncio.gather(
            *(member.run_timer(tick, tick.asked_by) for member in members)
        )
        if tick.timer == Timer.PERSIST_OFFSETS:
            for member in members:
                if member.started and member.may_act:
                    member.vouch()
        took_ms = (time.monotonic() - began) * 1000
        runs = [answer for answer in answers if answer is not None]
        self._runs.append(slot_run(tick, started, took_ms, runs))

    async def _save_runs(self, *, at_once: bool = False) -> None:
        now = self._steady()
        is_early = now - self._saved_at < SAVE_RUNS_SECONDS
        if not self._runs or (is_early and not at_once):
            return
        runs, self._runs = self._runs, []
        first = int(self._saved_at // 3600) != int(now // 3600)
        self._saved_at = now
        try:
            await self._database(lambda: save_runs(self.worker.name, runs))
        except DatabaseError:
            self._runs = (runs + self._runs)[-MOST_UNSAVED:]
            raise
        if first:
            settled_ms = self._settled.now_ms()
            await self._database(lambda: remove_old_runs(settled_ms))


def _spawn(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)
