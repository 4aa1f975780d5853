"""A name server and scripted brokers, and snapshots of them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from copy import deepcopy
from typing import Any

from rmqcore.admin import Admin, Patience
from rmqcore.model.columns import Column, Reason
from rmqcore.model.snapshot import (
    ClusterSnapshot,
    QueueTable,
)
from rmqcore.transport.clock import ManualClock

from .scripted import (
    Contents,
    ScriptedBroker,
    ScriptedNameServer,
    broker_data,
)

# The grace is all that a silent broker costs a test; shorter, a pause of the machine
# would pass for silence.
PATIENT = Patience(timeout_s=30, grace_s=1, deadline_s=60)

# A broker that is silent and alone is waited for until the time-out.
ALONE = Patience(timeout_s=5, grace_s=1, deadline_s=60)


class Lab:
    """A name server and scripted brokers; `take` asks for a snapshot of them."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.clock = ManualClock()
        self.nameserver = ScriptedNameServer()
        self.admin: Admin

    async def start(self, patience: Patience = PATIENT) -> None:
        await self._stack.enter_async_context(self.nameserver)
        self.admin = await self._stack.enter_async_context(
            Admin(self.nameserver.address, patience=patience, clock=self.clock)
        )

    async def broker(self, name: str = "broker-a", **contents: Any) -> ScriptedBroker:
        broker = ScriptedBroker(name, Contents(**deepcopy(contents)))
        await self._stack.enter_async_context(broker)
        self.nameserver.brokers.append(broker_data(broker, name=name))
        return broker

    async def restarted(self, broker: ScriptedBroker, address: str) -> ScriptedBroker:
        """Start a broker that was stopped again, at the address that it had."""
        again = ScriptedBroker(broker.name, broker.contents, address)
        await self._stack.enter_async_context(again)
        return again

    async def take(self, **asked: Any) -> ClusterSnapshot:
        return await self.admin.snapshot(**asked)


def rows(table: QueueTable, column: str) -> list[int | Reason | None]:
    values: Column = getattr(table, column)
    return [
        values.reason(row) if values[row] is None else values[row]
        for row in range(len(table))
    ]
