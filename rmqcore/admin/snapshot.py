"""Takes snapshots of a cluster; all brokers are asked at once, independently.

Theory. A snapshot asks the name servers for the brokers (106), sweeps all of them side
by side, asks members what they do (307) where wanted, and assembles the answers.
Brokers that are no longer named, and those known while no name server answers, are
swept at the addresses that they had (see `naming`). Sweeps share nothing, so a slow
broker delays only itself. What remains is when to stop waiting for it:

- once some brokers are done, the others are given up when none of them has been heard
  for `grace_s` (silence, not slowness: each answer starts the time anew);
- a snapshot takes no longer than `deadline_s`, a single answer no longer than
  `timeout_s`;
- one that was given up is left alone by the next snapshots for a short pause, one that
  said it is busy for a pause that grows while it goes on; one try is made at the end of
  each pause.

What a broker answered before it was given up counts. A broker whose master cannot be
reached is asked through a slave and marked stale.

Belongs to one event loop; snapshots of one taker may overlap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rmqcore.errors import (
    BusyError,
    ConnectError,
    RequestTimeoutError,
    RmqError,
    TransportError,
)
from rmqcore.model.route import BrokerData, QueueData
from rmqcore.model.snapshot import ClusterSnapshot, KnownBroker
from rmqcore.transport.clock import Clock
from rmqcore.transport.nameservers import NameServers
from rmqcore.transport.pool import ChannelPool

from .ages import GroupAges, Pair, ask_ages
from .assemble import Gathered, assemble
from .breaker import SILENT_PAUSE_S, Breakers
from .last_sweep import LastSweep
from .line import Line
from .listings import Remembered
from .memory import Memory, remember_members
from .names import is_system_topic
from .naming import NamedBroker, NameServerRound, Register
from .running_info import RunningInfos
from .sweep import BrokerAnswers, BrokerSweep, Question
from .tables import Listing, TopicOffsets


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a snapshot waits, in seconds; see the module's theory."""

    timeout_s: float = 3.0
    grace_s: float = 0.5
    deadline_s: float = 10.0


class SnapshotTaker:
    """Takes snapshots of one cluster and remembers what makes the next one cheaper."""

    def __init__(
        self,
        nameservers: NameServers,
        pool: ChannelPool,
        clock: Clock,
        patience: Patience,
    ) -> None:
        self.register = Register()
        """The brokers that are known, including missing ones."""
        self._naming = NameServerRound(
            nameservers,
            pool,
            clock,
            timeout_s=patience.timeout_s,
            grace_s=patience.grace_s,
        )
        self._pool = pool
        self._clock = clock
        self._patience = patience
        self._memories: dict[str, Memory] = {}
        self._busy: Breakers[str] = Breakers()
        self._silent: Breakers[str] = Breakers(SILENT_PAUSE_S, SILENT_PAUSE_S)
        self._last = LastSweep()
        self._running_infos = RunningInfos(pool, clock, patience.timeout_s)

    def member_left(self, group: str, client_id: str) -> None:
        """Stop treating a member as missing: it said that it leaves."""
        for memory in self._memories.values():
            memory.note_left(group, client_id)

    def member_there(self, group: str, client_id: str) -> None:
        """Treat a member as missing again when it is not listed."""
        for memory in self._memories.values():
            memory.note_there(group, client_id)

    async def take(
        self, question: Question, previous: ClusterSnapshot | None = None
    ) -> ClusterSnapshot:
        """Return a snapshot; raise if no name server answers and none ever has.

        Brokers that do not answer are part of the snapshot, with the reason.
        """
        loop = asyncio.get_running_loop()
        taken_at_ms, began = self._clock.time_ms(), loop.time()
        naming = await self._naming.ask(urgent=not self.register)
        self.register.take(naming, taken_at_ms)
        answers = [
            BrokerAnswers(
                known.data,
                known.data.any_address,
                self._memories.setdefault(known.name, Memory()),
                known.missing_since_ms,
            )
            for known in self.register.brokers()
        ]
        await self._sweep_all(answers, question, self.register.clusters)
        reports = (
            await self._running_infos.ask(question, answers)
            if question.running_info
            else {}
        )
        took_ms = (loop.time() - began) * 1000
        gathered = Gathered(
            question,
            answers,
            reports,
            taken_at_ms,
            took_ms,
            naming.first,
            naming.nameservers(),
        )
        snapshot = assemble(gathered, previous, self._last)
        for answer in answers:
            self._remember(answer, question, snapshot)
        return snapshot

    def known_brokers(self) -> tuple[KnownBroker, ...]:
        """Return every known broker with the topics that it last listed."""
        return tuple(
            KnownBroker(
                named.name,
                named.data.cluster,
                named.data.addresses,
                _topics_of(self._memories.get(named.name)),
                named.missing_since_ms,
            )
            for named in self.register.brokers()
        )

    async def ages(self, wanted: Mapping[str, Collection[Pair]]) -> GroupAges:
        """Return the ages of first unconsumed messages, of brokers not missing."""
        timeout_s = self._patience.timeout_s
        lines = {
            known.name: Line(self._pool, [known.data.any_address], timeout_s)
            for known in self.register.brokers()
            if known.data.any_address is not None
            and not self._busy.is_open(known.name)
            and not self._silent.is_open(known.name)
        }
        return await ask_ages(lines, wanted, limit_s=timeout_s)

    def remember_broker(self, broker: KnownBroker) -> None:
        """Add a broker that was known before; what was seen here is kept."""
        data = BrokerData(broker.cluster, broker.name, broker.addresses)
        missing_ms = broker.missing_since_ms
        self.register.remember(NamedBroker(data, missing_since_ms=missing_ms))
        memory = self._memories.setdefault(broker.name, Memory())
        if memory.topics is None:
            names = frozenset(broker.topics)
            memory.topics = Remembered(Listing(names, "", broker.topics), 0)
            memory.topic_names = frozenset(
                name
                for name in names
                if not is_system_topic(name, frozenset((broker.cluster,)), frozenset())
            )

    # Private, in order of first use

    async def _sweep_all(
        self,
        answers: Sequence[BrokerAnswers],
        question: Question,
        cluster_names: frozenset[str],
    ) -> None:
        names = frozenset(answer.name for answer in answers)
        self._forget_all_but(names)
        system_names = cluster_names, names
        sweeps: dict[asyncio.Task[None], BrokerSweep] = {}
        for answer in answers:
            sweep = self._sweep_of(answer, question, system_names)
            if sweep is not None:
                sweeps[asyncio.ensure_future(sweep.run())] = sweep
        try:
            await self._wait_for(sweeps)
        finally:
            for task in sweeps:
                task.cancel()
            await asyncio.gather(*sweeps, return_exceptions=True)

    def _sweep_of(
        self,
        answer: BrokerAnswers,
        question: Question,
        system_names: tuple[frozenset[str], frozenset[str]],
    ) -> BrokerSweep | None:
        """Return the sweep of a broker, or None when the broker is to be left alone."""
        addresses = [at for _, at in sorted(answer.broker.addresses.items())]
        if not addresses:
            answer.error = ConnectError(f"broker {answer.name} has no address")
            return None
        now = self._clock.monotonic()
        for breakers in (self._busy, self._silent):
            answer.error = breakers.blocked(answer.name, now)
            if answer.error is not None:
                return None
        answer.asked_at_ms = self._clock.time_ms()
        line = Line(self._pool, addresses, self._patience.timeout_s)
        return BrokerSweep(answer, line, question, system_names)

    def _remember(
        self, answer: BrokerAnswers, question: Question, snapshot: ClusterSnapshot
    ) -> None:
        """Keep what a broker said, for the time in which it is silent."""
        memory, now_ms = answer.memory, self._clock.time_ms()
        if answer.offsets is not None:
            memory.committed = answer.offsets.committed
        if answer.error is None:
            memory.note_answer(now_ms)
            if question.groups is None:
                memory.topic_names = frozenset(answer.stats)
                memory.queue_ids = {
                    name: offsets.queue_ids
                    for name, offsets in answer.stats.items()
                    if isinstance(offsets, TopicOffsets)
                }
                memory.group_names = frozenset(answer.members)
                memory.stats.keep(answer.stats.keys())
                memory.connections.keep(answer.members.keys())
        elif not answer.faults:
            memory.note_silence(now_ms)
        remember_members(memory, answer.members, snapshot.groups, now_ms)

    def _forget_all_but(self, names: frozenset[str]) -> None:
        self._busy.forget_all_but(names)
        self._silent.forget_all_but(names)
        for name in self._memories.keys() - names:
            del self._memories[name]

    async def _wait_for(self, sweeps: Mapping[asyncio.Task[None], BrokerSweep]) -> None:
        """Return when every sweep has ended or was given up."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        pending = set(sweeps)
        while pending:
            now = loop.time()
            left = began + self._patience.deadline_s - now
            if len(pending) < len(sweeps):
                heard = max(sweeps[task].line.last_heard for task in pending)
                left = min(left, heard + self._patience.grace_s - now)
            if left <= 0:
                for task in pending:
                    self._give_up(sweeps[task].answers, now - began)
                return
            done, pending = await asyncio.wait(
                pending, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                took_s = loop.time() - began
                self._finish(sweeps[task].answers, task.exception(), took_s)

    def _give_up(self, answers: BrokerAnswers, waited_s: float) -> None:
        self._fail(
            answers,
            RequestTimeoutError(
                f"{answers.address} was given up after {waited_s:.1f} s without answer"
            ),
        )

    def _finish(
        self, answers: BrokerAnswers, error: BaseException | None, took_s: float
    ) -> None:
        if error is None:
            answers.answered_at_ms = self._clock.time_ms()
            answers.took_ms = took_s * 1000
            self._busy.succeeded(answers.name)
            self._silent.succeeded(answers.name)
        elif isinstance(error, RmqError):
            self._fail(answers, error)
        else:
            raise error

    def _fail(self, answers: BrokerAnswers, error: RmqError) -> None:
        answers.error = error
        if isinstance(error, BusyError):
            self._busy.failed(answers.name, self._clock.monotonic(), error)
        elif isinstance(error, TransportError):
            self._silent.failed(answers.name, self._clock.monotonic(), error)


def _topics_of(memory: Memory | None) -> Mapping[str, QueueData]:
    if memory is None or memory.topics is None:
        return {}
    return memory.topics.listing.topics
