"""Which brokers there are, according to what each name server says and has said.

Name servers hold routes without knowing of each other, so each of them is asked. A
broker is there while one of them names it. One that none names any more is *missing*:
busy brokers miss their registration, and name servers that have just started know no
broker yet. It stays in the register, with the time since when it has been missing,
until somebody who knows says that it is gone (`forget`). What a name server said last
holds while it does not answer.

A name server that failed is left alone for a short pause. Where brokers are known
already, name servers are waited for only briefly: looks go on with those brokers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rmqcore.errors import ConnectError, RequestTimeoutError, RmqError, TransportError
from rmqcore.model.route import BrokerData
from rmqcore.model.snapshot import NameServerSnapshot
from rmqcore.protocol.bodies import ClusterInfo, decode_cluster_info
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.clock import Clock
from rmqcore.transport.nameservers import NameServers
from rmqcore.transport.pool import ChannelPool
from rmqcore.transport.responses import raise_for_code

from .breaker import SILENT_PAUSE_S, Breakers

Outcome = ClusterInfo | Exception


@dataclass(frozen=True, slots=True)
class NamedBroker:
    """A broker that is there, or was: its addresses, and the name servers that name it.

    `missing_since_ms` is when it was first seen that none of them names it any more.
    """

    data: BrokerData
    named_by: frozenset[str] = frozenset()
    missing_since_ms: int | None = None

    @property
    def name(self) -> str:
        """The broker's name."""
        return self.data.broker_name


@dataclass(frozen=True, slots=True)
class Naming:
    """The answers of the name servers, in the order in which these were given."""

    outcomes: Mapping[str, Outcome]

    @property
    def answered(self) -> dict[str, ClusterInfo]:
        """The answers by address."""
        return {
            address: outcome
            for address, outcome in self.outcomes.items()
            if isinstance(outcome, ClusterInfo)
        }

    @property
    def first(self) -> str | None:
        """The first name server that answered."""
        return next(iter(self.answered), None)

    def clusters(self) -> frozenset[str]:
        """Return the names of all clusters."""
        return frozenset(
            name for info in self.answered.values() for name in info.clusters
        )

    def nameservers(self) -> tuple[NameServerSnapshot, ...]:
        """Return how each name server answered."""
        return tuple(
            NameServerSnapshot(address, True, tuple(sorted(outcome.brokers)))
            if isinstance(outcome, ClusterInfo)
            else NameServerSnapshot(address, False, error=str(outcome))
            for address, outcome in self.outcomes.items()
        )


class Register:
    """The brokers of one cluster, including missing ones."""

    def __init__(self) -> None:
        self._known: dict[str, NamedBroker] = {}
        self.clusters: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._known)

    def brokers(self) -> list[NamedBroker]:
        """Return all brokers in the order of their names."""
        return sorted(self._known.values(), key=lambda known: known.name)

    def take(self, naming: Naming, now_ms: int) -> None:
        """Take in what the name servers said at `now_ms`."""
        answered = naming.answered
        for name in self._known.keys() | _named(answered.values()):
            self._known[name] = _known(name, self._known.get(name), answered, now_ms)
        if answered:
            self.clusters = naming.clusters()

    def remember(self, broker: NamedBroker) -> None:
        """Add a broker that was known at another time; what is known here is kept."""
        self._known.setdefault(broker.name, broker)

    def forget(self, name: str) -> bool:
        """Drop a broker that is gone for good; False when it is named, or not known."""
        known = self._known.get(name)
        if known is None or known.missing_since_ms is None:
            return False
        del self._known[name]
        return True


def _named(infos: Iterable[ClusterInfo]) -> set[str]:
    return {name for info in infos for name in info.brokers}


def _known(
    name: str,
    before: NamedBroker | None,
    answered: Mapping[str, ClusterInfo],
    now_ms: int,
) -> NamedBroker:
    named = {
        address: info.brokers[name]
        for address, info in answered.items()
        if name in info.brokers
    }
    if named:
        silent = before.named_by - answered.keys() if before else frozenset()
        # Where they disagree on addresses, the name server given first wins.
        addresses = {
            number: at
            for data in reversed(named.values())
            for number, at in data.addresses.items()
        }
        data = replace(next(iter(named.values())), addresses=addresses)
        return NamedBroker(data, silent | named.keys())
    assert before is not None  # noqa: S101 - else no answer would have named it
    naming = before.named_by - answered.keys()
    if naming or not answered:
        return replace(before, named_by=naming)
    if before.missing_since_ms is not None:
        return before
    return replace(before, named_by=frozenset(), missing_since_ms=now_ms)


class NameServerRound:
    """Asks all name servers side by side; remembers which of them do not answer."""

    def __init__(
        self,
        nameservers: NameServers,
        pool: ChannelPool,
        clock: Clock,
        *,
        timeout_s: float,
        grace_s: float,
    ) -> None:
        self._nameservers = nameservers
        self._pool = pool
        self._clock = clock
        self._timeout_s = timeout_s
        self._grace_s = grace_s
        self._breakers: Breakers[str] = Breakers(SILENT_PAUSE_S, SILENT_PAUSE_S)

    async def ask(self, *, urgent: bool) -> Naming:
        """Return what each name server said, or why it said nothing.

        `urgent` means that nothing is known without them: then all are asked, the first
        answer is waited for as long as an answer may take, and it is an error to get
        none.
        """
        outcomes: dict[str, Outcome] = {}
        asked: dict[asyncio.Task[ClusterInfo], str] = {}
        now = self._clock.monotonic()
        for address in self._nameservers.addresses:
            why = None if urgent else self._breakers.blocked(address, now)
            if why is not None:
                outcomes[address] = why
            else:
                asked[asyncio.ensure_future(self._ask_one(address))] = address
        try:
            await self._wait_for(asked, outcomes, urgent=urgent)
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        self._note(asked.values(), outcomes)
        ordered = {at: outcomes[at] for at in self._nameservers.addresses}
        naming = Naming(ordered)
        if urgent and naming.first is None:
            raise _nobody(ordered)
        return naming

    async def _ask_one(self, address: str) -> ClusterInfo:
        request = RemotingCommand.request(RequestCode.GET_BROKER_CLUSTER_INFO)
        answer = await self._pool.request(address, request, self._timeout_s)
        raise_for_code(answer, request_code=request.code, address=address)
        return decode_cluster_info(answer.body)

    async def _wait_for(
        self,
        asked: Mapping[asyncio.Task[ClusterInfo], str],
        outcomes: dict[str, Outcome],
        *,
        urgent: bool,
    ) -> None:
        pending = set(asked)
        patience_s = self._timeout_s if urgent else self._grace_s
        while pending:
            done, pending = await asyncio.wait(
                pending, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                outcomes[asked[task]] = _outcome(task)
                if task.exception() is None:
                    patience_s = self._grace_s
            if not done:
                for task in pending:
                    outcomes[asked[task]] = RequestTimeoutError(
                        f"{asked[task]} did not answer within {patience_s:g} s"
                    )
                return

    def _note(self, asked: Iterable[str], outcomes: Mapping[str, Outcome]) -> None:
        now = self._clock.monotonic()
        for address in asked:
            outcome = outcomes[address]
            if isinstance(outcome, ClusterInfo):
                self._breakers.succeeded(address)
            else:
                self._breakers.failed(address, now, outcome)


def _outcome(task: asyncio.Task[ClusterInfo]) -> Outcome:
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, RmqError):
        return error
    raise error


def _nobody(outcomes: Mapping[str, Outcome]) -> Exception:
    """Return the error to raise without an answer: a refusal, or one that names all."""
    errors = [each for each in outcomes.values() if isinstance(each, Exception)]
    refusals = (each for each in errors if not isinstance(each, TransportError))
    problems = "; ".join(map(str, errors))
    return next(refusals, ConnectError(f"no name server answers: {problems}"))
