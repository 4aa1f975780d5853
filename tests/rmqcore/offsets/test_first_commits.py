from __future__ import annotations

import asyncio

import pytest

from rmqcore.offsets import FirstCommits


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


async def test_after_a_failure_the_next_is_the_first() -> None:
    first, commits = FirstCommits(), Commits()

    async def fail(is_first: bool) -> None:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await first.take_turn("t", fail)
    commits.answer.set()
    await commits.begin(first, "t")
    assert commits.begun == [("t", True)]
