"""Groups that change once a second, published as the collector publishes them.

The document is stored, then an update is sent, of the queues that changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

from channels.layers import get_channel_layer

from dashboard.collector.changes import changes_between, update_message
from dashboard.live.names import lease_key
from dashboard.live.publishing import GroupUpdate, Publisher
from dashboard.live.state import LeaderState, make_async_client
from tests.dashboard.documents import now_ms

_TOKEN: Final = "benchmark"


async def change(
    documents: Sequence[Any], queues: int, seconds: float, redis_url: str
) -> tuple[int, float]:
    """Change the lag of so many queues of each group once a second.

    Messages say at their end when they were handed over: `"sent"`, in seconds. Returns
    the number of changes, and by how many seconds one was late at worst.
    """
    shown = list(documents)
    cluster = shown[0]["cluster"]
    client = make_async_client(redis_url)
    await client.set(lease_key(cluster), _TOKEN)
    publisher = Publisher(LeaderState(client, cluster, _TOKEN), get_channel_layer())
    began, behind = time.monotonic(), 0.0
    turns = round(seconds * len(shown))
    for turn in range(turns):
        wait = began + turn / len(shown) - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        behind = max(behind, -wait)
        at = turn % len(shown)
        before = shown[at]
        after = {**before, "seq": before["seq"] + 1, "taken_at": now_ms()}
        after["queues"] = [
            {**queue, "lag": 97 * turn + number} if number < queues else queue
            for number, queue in enumerate(before["queues"])
        ]
        message = update_message(after, changes_between(before, after))  # type: ignore[arg-type]
        update = GroupUpdate(after, {**message, "sent": time.time()})  # type: ignore[arg-type]
        if not await publisher.groups([update]):
            raise SystemExit("the benchmark lost its lead")
        shown[at] = after
    await client.aclose()
    return turns, behind
