"""Asks every broker process about itself, without getting in the way of sweeps.

One look asks all masters and slaves side by side and writes one document. It runs as a
task of its own, begun with a sweep of all groups; while one runs, no other begins. A
broker that does not answer keeps its last figures, with the error and their time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import orjson
import redis

from dashboard.gateway.broker_runtime import Told
from dashboard.live.broker_documents import BrokersDocument, BrokerState, untold
from dashboard.live.names import brokers_key
from dashboard.live.tasks import end_tasks
from rmqcore.model.route import MASTER_ID
from rmqcore.model.snapshot import KnownBroker

from .disk_time import LogGrowth, time_left
from .lead import LeadLostError
from .replicas import replicas_of
from .runtime_info import figures_of

logger = logging.getLogger(__name__)

SETTINGS_EACH_MS: Final = 600_000
"""Settings that explain figures are asked for this often."""

Store = Callable[[Mapping[str, bytes]], Awaitable[None]]


class RuntimeSource(Protocol):
    """Where reports come from: the gateway's connections to one cluster."""

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Ask brokers about themselves, some for settings, masters for their slaves."""

    def known_brokers(self) -> Sequence[KnownBroker]:
        """Return the brokers that were seen, including those that are missing."""


@dataclass(slots=True)
class _Memory:
    """What is kept of one address from look to look."""

    growth: LogGrowth = field(default_factory=LogGrowth)
    settings: Mapping[str, str] = field(default_factory=dict)
    settings_error: str | None = None
    settings_at_ms: int | None = None
    last: BrokerState | None = None


class BrokerWatch:
    """The reports of one cluster's brokers."""

    def __init__(
        self, cluster: str, source: RuntimeSource, now_ms: Callable[[], int]
    ) -> None:
        self._cluster = cluster
        self._source = source
        self._now_ms = now_ms
        self._memory: dict[str, _Memory] = {}
        self._task: asyncio.Task[None] | None = None

    def begin(self, store: Store) -> bool:
        """Begin a look that ends by storing the document, if the last one has ended.

        Return False only if no broker is known yet.
        """
        if self._task is not None and not self._task.done():
            return True
        known = self._source.known_brokers()
        if not known:
            return False
        self._task = asyncio.create_task(self._guarded(known, store))
        return True

    async def at_rest(self) -> None:
        """Wait for the look that runs, if one does."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def close(self) -> None:
        """End the look that runs, if one does."""
        if self._task is not None:
            await end_tasks(self._task)

    async def look(self, known: Sequence[KnownBroker]) -> BrokersDocument | None:
        """Ask all processes of some brokers; None if none of them was asked."""
        places = {at: (each, no) for each in known for no, at in each.addresses.items()}
        self._memory = {at: self._memory.get(at) or _Memory() for at in places}
        asked_at = self._now_ms()
        masters = [at for at, (_, number) in places.items() if number == MASTER_ID]
        told = await self._source.runtimes(list(places), self._due(asked_at), masters)
        if not told:
            return None
        states = [
            self._state(*places[each.address], each, asked_at)
            for each in told
            if each.address in places
        ]
        _note_slaves(states)
        return {
            "cluster": self._cluster,
            "taken_at": asked_at,
            "brokers": sorted(states, key=lambda s: (s["name"], s["broker_id"])),
        }

    async def _guarded(self, known: Sequence[KnownBroker], store: Store) -> None:
        try:
            document = await self.look(known)
            if document is not None:
                key = brokers_key(self._cluster)
                await store({key: orjson.dumps(document)})
        except (LeadLostError, redis.RedisError, OSError) as error:
            logger.warning("cluster=%s brokers not stored: %s", self._cluster, error)
        except Exception:
            logger.exception("cluster=%s brokers not asked", self._cluster)

    def _due(self, now_ms: int) -> list[str]:
        return [
            address
            for address, memory in self._memory.items()
            if memory.settings_at_ms is None
            or now_ms - memory.settings_at_ms >= SETTINGS_EACH_MS
        ]

    def _state(
        self, broker: KnownBroker, broker_id: int, told: Told, asked_at: int
    ) -> BrokerState:
        memory = self._memory[told.address]
        if told.settings is not None:
            memory.settings, memory.settings_error = told.settings, None
            memory.settings_at_ms = asked_at
        elif told.settings_error is not None:
            memory.settings_error = told.settings_error
        state = _begun(broker, broker_id, told, asked_at)
        state["settings"] = dict(memory.settings)
        state["settings_error"] = memory.settings_error
        if told.table is None:
            return _as_before(state, memory.last)
        figures, state["unknown"] = figures_of(told.table)
        state["figures"], state["reported"] = figures, told.table
        state["answered_at"] = asked_at
        state["replicas"], state["replicas_why"] = replicas_of(told)
        if figures["log_max"] is not None:
            memory.growth.take(asked_at, figures["log_max"])
        left = time_left(figures, memory.settings, memory.growth.rate)
        state["fill_rate"] = memory.growth.rate
        state["full_in_ms"], state["full_why"] = left.ms, left.why
        state["full_ratio"] = left.ratio
        memory.last = state
        return state


def _begun(
    broker: KnownBroker, broker_id: int, told: Told, asked_at: int
) -> BrokerState:
    return {
        **untold(broker.name, broker.cluster, broker_id, told.address, why=told.reason),
        "asked_at": asked_at,
        "took_ms": told.took_ms,
        "reason": told.reason,
        "error": told.error,
    }


def _as_before(state: BrokerState, last: BrokerState | None) -> BrokerState:
    """Keep the figures of a broker that was heard before, with their time."""
    if last is not None:
        state["answered_at"] = last["answered_at"]
        state["figures"] = last["figures"]
        state["unknown"] = last["unknown"]
        state["reported"] = last["reported"]
        state["replicas"] = last.get("replicas")
        state["replicas_why"] = last.get("replicas_why")
    return state


def _note_slaves(states: Sequence[BrokerState]) -> None:
    """Say how far each slave is behind its master, where both were just heard."""
    ends = {
        state["name"]: state["figures"]["log_max"]
        for state in states
        if state["broker_id"] == MASTER_ID
        and state["error"] is None
        and state["figures"] is not None
    }
    for state in states:
        end, figures = ends.get(state["name"]), state["figures"]
        if state["broker_id"] == MASTER_ID or state["error"] is not None:
            continue
        own = None if figures is None else figures["log_max"]
        if end is not None and own is not None:
            # Both are asked at once, not at one moment: a slave is never ahead.
            state["behind_bytes"] = max(0, end - own)
