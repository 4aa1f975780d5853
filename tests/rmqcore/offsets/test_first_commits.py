from __future__ import annotations

import asyncio

import pytest

from rmqcore.errors import RequestTimeoutError, ResponseError
from rmqcore.offsets import FirstCommits
from tests.support.waiting import PATIENCE_SECONDS


class Commits:
    """Commits that end when they are told to, and how they were begun."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, bool]] = []
        self.answer = asyncio.Event()

    async def begin(self, first: FirstCommits, table: str) -> None:
        async def commit(is_first: bool) -> None:
            self.begun.append((table, is_first))
            await self.answer.wait()

        await first.take_turn(table, commit)


async def test_others_wait_for_the_first_of_a_table_and_then_for_nobody() -> None:
    first, commits = FirstCommits(), Commits()
    waiting = [asyncio.create_task(commits.begin(first, "t")) for _ in range(3)]
    await asyncio.sleep(0)
    assert commits.begun == [("t", True)]
    commits.answer.set()
    await waiting[0]
    commits.answer.clear()
    for _ in range(5):
        await asyncio.sleep(0)
    assert commits.begun == [("t", True), ("t", False), ("t", False)]
    commits.answer.set()
    await asyncio.gather(*waiting)
    for table in ("u", "t"):
        await commits.begin(first, table)
    assert commits.begun[3:] == [("u", True), ("t", False)]


async def test_a_table_does_not_wait_for_another() -> None:
    first, silent, quick = FirstCommits(), Commits(), Commits()
    waiting = asyncio.create_task(silent.begin(first, "a"))
    await asyncio.sleep(0)
    quick.answer.set()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await quick.begin(first, "b")
    assert not waiting.done()
    silent.answer.set()
    await waiting


async def test_after_a_refusal_the_next_is_the_first() -> None:
    first, commits = FirstCommits(), Commits()
    refused, waiting = await meet(
        first, commits, ResponseError(2, "busy", request_code=15, address="a")
    )
    with pytest.raises(ResponseError, match="busy"):
        await refused
    await waiting
    assert commits.begun == [("t", True)]
    await commits.begin(first, "t")
    assert commits.begun[1:] == [("t", False)]


async def test_without_an_answer_nobody_waits_any_longer() -> None:
    first, commits = FirstCommits(), Commits()
    silent, waiting = await meet(first, commits, RequestTimeoutError("no answer"))
    with pytest.raises(RequestTimeoutError):
        await silent
    await waiting
    assert commits.begun == [("t", False)]
    await commits.begin(first, "t")
    assert commits.begun[1:] == [("t", True)]


async def meet(
    first: FirstCommits, commits: Commits, error: Exception
) -> tuple[asyncio.Task[None], asyncio.Task[None]]:
    """Begin a first commit that fails when another one waits for it."""
    fails = asyncio.Event()

    async def fail(is_first: bool) -> None:
        await fails.wait()
        raise error

    failing = asyncio.create_task(first.take_turn("t", fail))
    waiting = asyncio.create_task(commits.begin(first, "t"))
    commits.answer.set()
    await asyncio.sleep(0)
    assert commits.begun == []
    fails.set()
    return failing, waiting
