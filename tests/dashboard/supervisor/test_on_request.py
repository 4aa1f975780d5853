"""The embedded cluster, started because somebody asks for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dashboard.gateway.embedded_request import NAME, ask, why_not
from dashboard.supervisor import on_request, plan
from dashboard.supervisor.child import Child, ChildSpec
from dashboard.supervisor.on_request import start_on_request
from dashboard.supervisor.plan import Surroundings
from tests.support.waiting import until_seen


class Starter:
    """Starts children with the logs of a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Child] = []

    async def start(self, spec: ChildSpec) -> Child:
        child = Child(spec, self.folder)
        self.children.append(child)
        await child.start()
        return child

    async def drop(self, child: Child) -> None:
        await child.stop()
        self.children.remove(child)

    @property
    def names(self) -> list[str]:
        return [child.spec.name for child in self.children]


@pytest.fixture
async def starter(tmp_path: Path) -> AsyncIterator[Starter]:
    starter = Starter(tmp_path / "logs")
    yield starter
    for child in starter.children:
        await child.stop()


async def test_it_is_started_announced_and_gets_its_traffic(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_request, "LOOK_SECONDS", 0.05)
    request, managed = tmp_path / NAME, []

    async def manage(*arguments: str) -> str:
        managed.append(arguments)
        return ""

    found = Surroundings("127.0.0.1", 1, tmp_path, "redis://r:1/0", None, 64, request)
    ask(request)
    await start_on_request(
        starter, found, request=request, manage=manage, say=lambda text: None
    )
    assert starter.names == ["cluster", "traffic"]
    ((command, address),) = managed
    assert command == "announce_embedded"
    assert address in starter.children[1].spec.argv


async def test_one_that_keeps_ending_is_dropped_and_why_is_told(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_request, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(on_request, "_STARTS_BEFORE_GIVING_UP", 1)
    broken = ChildSpec("cluster", (sys.executable, "-c", "raise SystemExit('full')"))
    monkeypatch.setattr(plan, "embedded_cluster", lambda _surroundings: broken)
    request = tmp_path / NAME
    found = Surroundings("127.0.0.1", 1, tmp_path, "redis://r:1/0", None, 64, request)
    said: list[str] = []

    async def manage(*_arguments: str) -> str:
        return ""

    ask(request)
    waiting = asyncio.create_task(
        start_on_request(
            starter, found, request=request, manage=manage, say=said.append
        )
    )

    async def look() -> str | None:
        return why_not(request)

    why = await until_seen(look, bool)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert why is not None
    assert why.startswith("its process keeps ending")
    assert starter.children == []
    assert "does not start" in said[0]
