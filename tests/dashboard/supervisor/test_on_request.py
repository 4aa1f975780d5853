"""The embedded cluster, started because somebody asks for it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from errno import ENOSPC
from pathlib import Path

import pytest

from dashboard.gateway.embedded_request import NAME, ask, why_not
from dashboard.supervisor import on_request, plan
from dashboard.supervisor.child import ChildSpec
from dashboard.supervisor.on_request import start_on_request
from dashboard.supervisor.plan import Surroundings
from dashboard.supervisor.run import Stack
from tests.support.waiting import until_seen


@pytest.fixture
async def starter(tmp_path: Path) -> AsyncIterator[Stack]:
    """Starts children with the logs of a test."""
    stack = Stack(tmp_path / "logs", 1_000_000)
    yield stack
    await stack.stop()


async def test_it_is_started_announced_and_gets_its_traffic(
    starter: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert [each.spec.name for each in starter.children] == [
        "cluster",
        "traffic-1",
        "traffic-2",
    ]
    ((command, address),) = managed
    assert command == "announce_embedded"
    assert all(address in each.spec.argv for each in starter.children[1:])


async def test_one_that_keeps_ending_is_dropped_and_why_is_told(
    starter: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.parametrize("told", [True, False], ids=["told", "not told"])
async def test_a_full_disk_does_not_end_the_others(
    starter: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, told: bool
) -> None:
    monkeypatch.setattr(on_request, "LOOK_SECONDS", 0.05)
    (tmp_path / "logs").write_text("no folder for logs")
    request = tmp_path / NAME
    found = Surroundings("127.0.0.1", 1, tmp_path, "redis://r:1/0", None, 64, request)
    said: list[str] = []

    async def manage(*_arguments: str) -> str:
        return ""

    def full(_path: Path, _why: str) -> None:
        raise OSError(ENOSPC, "no space left on device")

    if not told:
        monkeypatch.setattr(on_request, "say_why_not", full)
    ask(request)
    waiting = asyncio.create_task(
        start_on_request(
            starter, found, request=request, manage=manage, say=said.append
        )
    )

    async def look() -> bool:
        return bool(said) and (not told or bool(why_not(request)))

    assert await until_seen(look, bool)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert starter.children == []
    assert len(said) == 1
