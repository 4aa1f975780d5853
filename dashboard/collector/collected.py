"""One cluster that this worker collects: its collector, connection and tasks.

Clusters come and go while the worker runs. What is under way for one of them is ended
before its lead is given up, so that nothing takes the lead again behind its back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import redis.asyncio

from dashboard.gateway.connections import ClusterConnection
from dashboard.live.hearing import hear
from dashboard.live.names import allocation_channel
from dashboard.live.tasks import end_tasks

from .cluster_collector import ClusterCollector


class Collected:
    """A cluster from `start` to `close`; runs on the collector's loop."""

    def __init__(
        self,
        connection: ClusterConnection,
        collector: ClusterCollector,
        client: redis.asyncio.Redis,
    ) -> None:
        self.connection = connection
        self.collector = collector
        self._client = client
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self) -> None:
        """Begin to collect with a first sweep."""
        self.spawn(self.collector.follow_notices())
        self.spawn(self.collector.sweep_all())
        self.spawn(self._hear_holdings())

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work that ends with the cluster, if not before."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what is under way, give up the lead and close the connections."""
        await end_tasks(*self._tasks)
        await self.collector.close()
        await self.connection.close()

    async def _hear_holdings(self) -> None:
        """Pass fleet members' reports on to the collector, forever."""
        channel = allocation_channel(self.collector.cluster)
        async for _channel, message in hear(self._client, channel):
            self.collector.take_holding(message)
