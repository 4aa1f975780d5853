"""How each broker stands, and since when: what pages say when a broker is away.

A broker is *whole* while the name servers name it and its master answers everything.
Otherwise it is missing (no longer named), silent (named, but it does not answer),
partial (it refuses some requests) or a slave answers for it; each since a time.

While a broker that a group needs is not whole, nothing is judged anew for `HELD_MS`:
the group's status, findings and epoch stay as they were when the broker last was whole.
Restarts and lost registrations are over by then. After that, what is left is judged and
marked as partial. A silent broker that is still named keeps its queues in the routes of
the clients, so the epoch stands for as long as that lasts; if it is no longer named,
clients give up its queues within 50 s (routes every 30 s, rebalance every 20 s).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from dashboard.live.documents import (
    BrokerCondition,
    NameServerState,
    Overview,
    OverviewBroker,
)
from rmqcore.model.snapshot import WITHDRAWN_MS, BrokerSnapshot, ClusterSnapshot

HELD_MS: Final = WITHDRAWN_MS
TOLERATED_MS: Final = 3_000
"""Silence that is not reported yet: a busy broker may fail to answer a single look."""


@dataclass(frozen=True, slots=True)
class BrokerState:
    """One broker at one look. Times are ms since the epoch.

    `since_ms` is when the present condition began and `away_since_ms` when the broker
    was last seen to stop being whole; None while it is whole. `answered_at_ms` is when
    it last answered, None if it never did.
    """

    snapshot: BrokerSnapshot
    condition: BrokerCondition
    since_ms: int | None = None
    away_since_ms: int | None = None
    answered_at_ms: int | None = None

    @property
    def name(self) -> str:
        """The broker's name."""
        return self.snapshot.name

    @property
    def whole(self) -> bool:
        """True while nothing that this broker knows is missing."""
        return self.condition == "answered"

    def unheard(self, now_ms: int) -> bool:
        """Return whether it never answered and so may have queues of any group."""
        return self.answered_at_ms is None and not self.snapshot.withdrawn(now_ms)

    def tolerated(self, now_ms: int) -> bool:
        """Return whether its silence is too short to be reported."""
        away_ms = now_ms - (self.away_since_ms or now_ms)
        return self.condition == "silent" and away_ms < TOLERATED_MS


def condition_of(broker: BrokerSnapshot) -> BrokerCondition:
    """Return how a broker stood at one look."""
    if broker.missing_since_ms is not None:
        return "missing"
    if broker.faults:
        return "partial"
    if not broker.answered:
        return "silent"
    return "slave" if broker.stale else "answered"


@dataclass(frozen=True)
class Standing:
    """How the brokers of a cluster, by name, and its name servers stood at one look."""

    brokers: Sequence[BrokerState] = ()
    nameservers: Sequence[NameServerState] = ()
    at_ms: int = 0

    @cached_property
    def calm(self) -> bool:
        """True while name servers agree, and no broker may have queues of any group."""
        unheard = any(broker.unheard(self.at_ms) for broker in self.brokers)
        return self.agreed() and not unheard

    @cached_property
    def whole(self) -> frozenset[str]:
        """The names of the brokers of which nothing is missing."""
        return frozenset(broker.name for broker in self.brokers if broker.whole)

    def agreed(self) -> bool:
        """Return whether every name server answered and lists every broker."""
        return all(
            each["answered"] and not each["unlisted"] for each in self.nameservers
        )


class Presence:
    """The brokers and name servers of one cluster, look after look."""

    def __init__(self) -> None:
        self.now = Standing()
        """Brokers and name servers as last seen."""
        self._at_ms = 0
        self._restored: dict[str, OverviewBroker] = {}
        self._restored_ms = 0
        self._silent_since: dict[str, int | None] = {}

    def restore(self, last: Overview) -> None:
        """Continue from what an earlier leader published."""
        self._restored = {broker["name"]: broker for broker in last["brokers"]}
        self._restored_ms = last["taken_at"]
        self._silent_since = {
            each["address"]: each.get("since") for each in last.get("nameservers", [])
        }

    def take(self, snapshot: ClusterSnapshot) -> Standing:
        """Record one look at the cluster; return how everything stood at it.

        Brokers no longer in it are forgotten. A look older than the last changes
        nothing.
        """
        at_ms = snapshot.taken_at_ms
        known = {state.name: state for state in self.now.brokers}
        brokers = tuple(
            self._state(broker, known.get(broker.name), at_ms)
            for broker in sorted(snapshot.brokers, key=lambda broker: broker.name)
        )
        standing = Standing(brokers, self._nameservers(snapshot), at_ms)
        if at_ms >= self._at_ms:
            self.now, self._at_ms, self._restored = standing, at_ms, {}
            self._silent_since = {
                each["address"]: each.get("since") for each in standing.nameservers
            }
        return standing

    def _nameservers(self, snapshot: ClusterSnapshot) -> tuple[NameServerState, ...]:
        known = {broker.name for broker in snapshot.brokers}
        return tuple(
            {
                "address": each.address,
                "answered": each.answered,
                "error": each.error,
                "unlisted": sorted(known.difference(each.brokers))
                if each.answered
                else [],
                "since": None
                if each.answered
                else self._silent_since.get(each.address) or snapshot.taken_at_ms,
            }
            for each in snapshot.nameservers
        )

    def _state(
        self, broker: BrokerSnapshot, known: BrokerState | None, at_ms: int
    ) -> BrokerState:
        condition = condition_of(broker)
        before = known or self._earlier(broker, at_ms)
        state = BrokerState(
            broker,
            condition,
            answered_at_ms=broker.answered_at_ms or before.answered_at_ms,
        )
        if state.whole:
            return state
        since_ms = before.since_ms if before.condition == condition else at_ms
        return replace(
            state,
            since_ms=broker.missing_since_ms or since_ms or at_ms,
            away_since_ms=before.away_since_ms or broker.missing_since_ms or at_ms,
        )

    def _earlier(self, broker: BrokerSnapshot, at_ms: int) -> BrokerState:
        known = self._restored.get(broker.name)
        if known is None:
            return BrokerState(broker, "answered")
        age_ms, since_ms = known["age_ms"], known.get("since")
        heard_ms = None if age_ms is None else self._restored_ms - age_ms
        if known.get("state", "answered") == "answered":
            return BrokerState(broker, "answered", answered_at_ms=heard_ms)
        state = known["state"]
        return BrokerState(broker, state, since_ms, since_ms or at_ms, heard_ms)
