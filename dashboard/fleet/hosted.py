"""One member that this worker hosts: a push consumer under a claim.

The claim is the right to act for the member. It has an end, which each renewal moves,
and which the worker's heartbeats move while the claim cannot be renewed because the
database is locked or away (see `heartbeats`, which says why that is safe). It is a time
of a clock that cannot be set (see `steady`), so no jump of the wall clock takes the
right away or makes it longer. Past it another worker may have taken the member over, so
nothing is begun that only an owner may do: timers are skipped, and listeners wait until
the claim is renewed or the member is abandoned. Thus a worker that wakes after being
frozen cannot commit offsets that belong to another by then.

A member belongs to one event loop. What its consumer reports about its queues is
announced (see `announcing`), one report at a time and always the newest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import cast

from dashboard.gateway.connections import request_hooks, tls_of
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.holdings import Holding
from rmqcore.allocation import AllocateStrategy
from rmqcore.client import (
    AllocationChanged,
    ConsumeContext,
    ConsumeResult,
    Event,
    PushConsumer,
    TimerRun,
    run_slot,
)
from rmqcore.model import MessageExt
from rmqcore.model.columns import QueueKey
from rmqcore.model.topic import RETRY_PREFIX
from rmqcore.timers import Slot

from .announcing import Announcer
from .claims import Claim
from .heartbeats import Beat
from .member_listener import MemberListener
from .specs import MemberSpec
from .steady import steady_seconds
from .strategies import hosted_strategy

logger = logging.getLogger(__name__)


class HostedMember:
    """A member from its start to its end; once ended, it is not started again."""

    def __init__(
        self,
        spec: MemberSpec,
        claim: Claim,
        acts_until: float,
        *,
        cluster: ClusterSettings,
        announcer: Announcer,
        now: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_seconds,
    ) -> None:
        self.spec = spec
        self.claim = claim
        self.acts_until = acts_until
        """The right's end, in seconds of the steady clock."""
        self.started = False
        self._renewed = asyncio.Event()
        self._announcer = announcer
        self._now = now
        self._steady = steady
        self._since_ms = 0
        self._queues: dict[str, tuple[QueueKey, ...]] = {}
        self._saying: asyncio.Task[None] | None = None
        self._unsaid = False
        self._listener = MemberListener(spec)
        self._consumer = self._make_consumer(cluster, claim)

    @property
    def client_id(self) -> str:
        """The client id under which brokers know the member."""
        return self._consumer.client_id

    @property
    def may_act(self) -> bool:
        """True until the right's end; checked before anything only an owner may do."""
        return self._steady() < self.acts_until

    def renew(self, claim: Claim, acts_until: float) -> None:
        """Take the claim's new end, and the same end by the steady clock."""
        self.claim = claim
        self.acts_until = max(self.acts_until, acts_until)
        self._renewed.set()

    def keep(self, beat: Beat) -> None:
        """Act until the heartbeat's end, unless the right was over before it."""
        if beat.unbroken and beat.asked < self.acts_until and self.may_act:
            self.acts_until = max(self.acts_until, beat.until)

    @property
    def made(self) -> bool:
        """Whether the listener is made; before that, nothing has begun."""
        return self._listener.made

    async def make_listener(self) -> None:
        """Make the listener, which comes before `start` and may take long.

        Raises `ArgumentError` if it cannot be made.
        """
        await self._listener.make()

    async def start(self) -> None:
        """Join the group; raises what `PushConsumer.start` raises."""
        await self._consumer.start()
        self.started = True

    def switch(self, spec: MemberSpec) -> None:
        """Divide by the strategy of a newer wish from now on; stay in the group.

        Raises `ArgumentError` for an impossible strategy; then nothing changes.
        """
        self._consumer.switch_strategy(_strategy(spec))
        self.spec = spec

    async def stop(self) -> None:
        """Leave the group cleanly: persist offsets and release locks."""
        try:
            await self._consumer.shutdown()
        finally:
            self._listener.close()
        await self._end_announcing()

    async def abandon(self) -> None:
        """Drop everything at once, writing nothing: another worker is the owner."""
        self.started = False
        try:
            await self._consumer.abandon()
        finally:
            self._listener.close()
        if self._saying is not None:
            self._saying.cancel()

    async def run_timer(self, slot: Slot, asked_by: str) -> TimerRun | None:
        """Do a slot's work; return None if the member may not act."""
        if not self.started or not self.may_act:
            return None
        return await run_slot(self._consumer.instance, slot, asked_by)

    def vouch(self) -> None:
        """Announce again what the member holds, so that it remains trusted."""
        self._unsaid = True
        if self._saying is None or self._saying.done():
            self._saying = asyncio.get_running_loop().create_task(self._say())

    # Private

    def _make_consumer(self, cluster: ClusterSettings, claim: Claim) -> PushConsumer:
        spec = self.spec
        consumer = PushConsumer(
            list(cluster.name_servers),
            group=spec.group,
            listener=self._guarded,
            strategy=_strategy(spec),
            message_model=spec.mode,
            consume_from_where=spec.start_position,
            orderly=spec.orderly,
            instance_name=spec.instance_name(claim),
            timers="external",
            on_event=self._take_event,
            tls=tls_of(cluster),
            hooks=request_hooks(cluster),
        )
        for topic, expression in spec.topics:
            consumer.subscribe(topic, expression)
        return consumer

    async def _guarded(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        await self._until_it_may_act()
        result = await self._listener(messages, context)
        await self._until_it_may_act()
        return cast("ConsumeResult", result)

    async def _until_it_may_act(self) -> None:
        """Wait for a renewed claim; when there is none, abandoning ends the wait."""
        while not self.may_act:
            self._renewed.clear()
            await self._renewed.wait()

    def _take_event(self, event: Event) -> None:
        if not isinstance(event, AllocationChanged):
            return
        if event.topic.startswith(RETRY_PREFIX):
            return
        self._queues[event.topic] = tuple(
            (queue.topic, queue.broker_name, queue.queue_id) for queue in event.queues
        )
        self._since_ms = event.at_ms
        self.vouch()

    def _holding(self) -> Holding:
        queues = tuple(sorted(key for keys in self._queues.values() for key in keys))
        vouched_ms = round(self._now() * 1000)
        return Holding(
            self.spec.group,
            self.client_id,
            queues,
            self._since_ms,
            vouched_ms,
            self._listener.busy_since_ms(self.client_id, vouched_ms),
        )

    async def _say(self) -> None:
        while self._unsaid:
            self._unsaid = False
            await self._announcer.say(self.spec.cluster, self._holding())

    async def _end_announcing(self) -> None:
        self.started = False
        if self._saying is not None:
            await asyncio.gather(self._saying, return_exceptions=True)
        self._queues.clear()
        await self._announcer.take_back(self.spec.cluster, self._holding())


def _strategy(spec: MemberSpec) -> AllocateStrategy:
    return hosted_strategy(spec.strategy, spec.strategy_options, spec.group)
