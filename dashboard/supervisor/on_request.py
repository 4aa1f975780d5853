"""Starts the embedded cluster when somebody asks for it while everything runs.

Pages ask by a file (`dashboard.gateway.embedded_request`). The cluster is started as it
would have been at the beginning, with its traffic and the demo's groups; then its
address is put into the database, where every process finds it without a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol

from dashboard.gateway.embedded_request import is_asked, say_why_not

from . import plan
from .child import Child, ChildSpec
from .plan import Surroundings
from .ports import free_port

LOOK_SECONDS: Final = 0.5
RETRY_SECONDS: Final = 60.0
_READY_SECONDS: Final = 60.0
_STARTS_BEFORE_GIVING_UP: Final = 3


class NotStartedError(Exception):
    """The embedded cluster did not come up; the message says why."""


class Starter(Protocol):
    """Starts and drops children that are stopped with the others at the end."""

    async def start(self, spec: ChildSpec) -> Child: ...

    async def drop(self, child: Child) -> None: ...


async def start_on_request(
    starter: Starter,
    surroundings: Surroundings,
    *,
    request: Path,
    manage: Callable[..., Awaitable[str]],
    say: Callable[[str], None],
) -> None:
    """Wait for a request and start the cluster; ends when it runs."""
    while True:
        if await asyncio.to_thread(is_asked, request):
            try:
                await _start(starter, surroundings, manage)
            except (NotStartedError, OSError) as error:
                say(f"the embedded cluster was asked for and does not start: {error}")
                try:
                    await asyncio.to_thread(say_why_not, request, str(error))
                except OSError:
                    # On a full disk the request stands as it was: not at once again.
                    await asyncio.sleep(RETRY_SECONDS)
            else:
                say("the embedded cluster was asked for, and runs")
                return
        await asyncio.sleep(LOOK_SECONDS)


def is_ready(child: Child) -> bool:
    """Tell whether the cluster has printed the line that says it is complete."""
    for line in child.last_lines(50):
        with contextlib.suppress(ValueError):
            if "nameserver" in json.loads(line):
                return True
    return False


async def _start(
    starter: Starter, surroundings: Surroundings, manage: Callable[..., Awaitable[str]]
) -> None:
    port = free_port(prefer=plan.NAME_SERVER_PORT)
    found = replace(surroundings, embedded_name_server_port=port)
    cluster = plan.embedded_cluster(found)
    assert cluster is not None  # noqa: S101 - there is a port
    child = await starter.start(cluster)
    try:
        await _until_ready(child)
        await manage("announce_embedded", f"127.0.0.1:{port}")
    except BaseException as error:
        await starter.drop(child)
        if isinstance(error, Exception) and not isinstance(error, NotStartedError):
            raise NotStartedError(str(error)) from error
        raise
    for traffic in plan.demo_traffic(found):
        await starter.start(traffic)


async def _until_ready(child: Child) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not await asyncio.to_thread(is_ready, child):
        last = " ".join(child.last_lines(1))
        if child.starts >= _STARTS_BEFORE_GIVING_UP:
            raise NotStartedError(f"its process keeps ending: {last}")
        if time.monotonic() > deadline:
            raise NotStartedError(f"no answer within {_READY_SECONDS:g} s: {last}")
        await asyncio.sleep(LOOK_SECONDS)
