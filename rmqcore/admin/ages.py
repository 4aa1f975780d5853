"""Asks only how old the first unconsumed messages of some groups are (303).

To answer, a broker reads one message of each queue, which in a group that lags is old
and often only on disk. So only a few questions are open at a time, and what a broker
has not told when time is up is left out. Nothing else known of the broker changes
because of that: a broker that reads slowly is not silent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Final

from rmqcore.errors import ProtocolError, RmqError
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.protocol.bodies import decode_consume_time_spans
from rmqcore.protocol.codes import RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand

from .line import Line
from .queue_times import delays_of

Pair = tuple[str, str]
"""Group and topic."""

GroupAges = dict[str, dict[QueueKey, int]]
"""Ages in ms by group and queue."""

AT_ONCE: Final = 8
"""Questions open at once; a broker answers such questions with sixteen threads."""


async def ask_ages(
    lines: Mapping[str, Line],
    wanted: Mapping[str, Collection[Pair]],
    *,
    limit_s: float,
) -> GroupAges:
    """Return the ages that brokers told within the limit.

    `lines` and `wanted` are by broker name; a broker without a line is not asked. A
    queue whose first unconsumed message is gone, or that has none, has no age.
    """
    found: GroupAges = {}

    async def ask(name: str, pairs: Collection[Pair]) -> None:
        with suppress(RmqError, TimeoutError):
            async with asyncio.timeout(limit_s):
                await _ask_broker(lines[name], name, sorted(pairs), found)

    asked = (ask(name, pairs) for name, pairs in wanted.items() if name in lines)
    await asyncio.gather(*asked)
    return found


async def _ask_broker(
    line: Line, name: str, pairs: Sequence[Pair], into: GroupAges
) -> None:
    def take(pair: Pair, answer: RemotingCommand) -> None:
        if answer.code != ResponseCode.SUCCESS:
            return
        group, topic = pair
        with suppress(ProtocolError):
            spans = decode_consume_time_spans(answer.body)
            into.setdefault(group, {}).update(
                (key, delay)
                for key, delay in delays_of(name, topic, spans)
                if not isinstance(delay, Reason)
            )

    code = RequestCode.QUERY_CONSUME_TIME_SPAN
    requests = (
        (pair, RemotingCommand.request(code, {"group": pair[0], "topic": pair[1]}))
        for pair in pairs
    )
    await line.ask_each(requests, take, window=AT_ONCE)
