"""Commands as processes, against a cluster that runs in the test."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from typing import Any

import pytest

from rmqcore.cluster import LocalCluster

PATIENCE_S = 60.0


@pytest.fixture
async def cluster_of_t() -> AsyncIterator[LocalCluster]:
    """One name server and one broker, with the topic T of four queues."""
    async with LocalCluster() as running:
        await running.create_topic("T", 4)
        yield running


async def start_command(
    command: str, cluster: LocalCluster, *arguments: str
) -> Process:
    """Start a command that joins the cluster."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rmqcore",
        command,
        "--nameserver",
        cluster.nameserver_address,
        *arguments,
        stdout=PIPE,
        stderr=PIPE,
    )


async def run_command(
    command: str, cluster: LocalCluster, *arguments: str
) -> tuple[int | None, list[str], str]:
    """Run a command to its end; return its code, its lines and its errors."""
    process = await start_command(command, cluster, *arguments)
    async with asyncio.timeout(PATIENCE_S):
        output, errors = await process.communicate()
    return process.returncode, output.decode().splitlines(), errors.decode()


class Consuming:
    """A running `consume` and the lines it has printed so far."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.lines: list[dict[str, Any]] = []

    async def until(self, event: str, count: int = 1) -> list[dict[str, Any]]:
        """Read lines until so many of an event have come; return those."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while len(found := self.of(event)) < count:
                line = await self._process.stdout.readline()
                assert line, f"ended after {self.lines}"
                self.lines.append(json.loads(line))
        return found

    async def until_part(self, *queue_ids: int) -> None:
        """Read lines until the part of the topic T is these queues of broker-a."""
        wanted = [["broker-a", number] for number in queue_ids]
        while not any(
            line["topic"] == "T" and line["queues"] == wanted
            for line in self.of("allocation")
        ):
            await self.until("allocation", len(self.of("allocation")) + 1)

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the lines of one event."""
        return [line for line in self.lines if line["event"] == event]

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop; read what it still prints; return its code."""
        self._process.send_signal(number)
        async with asyncio.timeout(PATIENCE_S):
            output, errors = await self._process.communicate()
        self.lines += map(json.loads, output.decode().splitlines())
        assert b"Traceback" not in errors
        assert self._process.returncode is not None
        return self._process.returncode
