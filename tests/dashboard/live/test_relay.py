from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import redis
from channels.layers import get_channel_layer

from dashboard.live import relay as relay_module
from dashboard.live.relay import OUTBOX_LIMIT, Outbox, Relay, relay
from tests.support.waiting import until

NAME = "live.east.payments"


class Reader:
    """A socket's other end: what it got, and whether it was cut off."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.cut = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self.outbox = Outbox(self._take, self._cut_off)

    async def _take(self, text: str) -> None:
        await self.reads.wait()
        self.got.append(text)

    async def _cut_off(self) -> None:
        self.cut.set()


@pytest.fixture
async def readers() -> AsyncIterator[Callable[[], Reader]]:
    made: list[Reader] = []

    def make() -> Reader:
        made.append(Reader())
        return made[-1]

    yield make
    for reader in made:
        await relay().leave(NAME, reader.outbox)
        await reader.outbox.close()


async def publish(text: str) -> None:
    await get_channel_layer().group_send(NAME, {"type": "live.update", "text": text})


async def test_all_that_watch_a_name_get_it_in_order(
    readers: Callable[[], Reader],
) -> None:
    first, second = readers(), readers()
    await relay().join(NAME, first.outbox)
    await relay().join(NAME, second.outbox)
    for text in ("a", "b"):
        await publish(text)
    await until(lambda: first.got == ["a", "b"] and second.got == ["a", "b"])


async def test_who_left_gets_no_more(readers: Callable[[], Reader]) -> None:
    stays, leaves = readers(), readers()
    await relay().join(NAME, stays.outbox)
    await relay().join(NAME, leaves.outbox)
    await relay().leave(NAME, leaves.outbox)
    await publish("a")
    await until(lambda: stays.got == ["a"])
    assert leaves.got == []


async def test_the_last_one_to_leave_ends_the_subscription(
    readers: Callable[[], Reader],
) -> None:
    reader = readers()
    await relay().join(NAME, reader.outbox)
    await relay().leave(NAME, reader.outbox)
    await publish("unheard")
    await relay().join(NAME, reader.outbox)
    await publish("heard")
    await until(lambda: bool(reader.got))
    assert reader.got == ["heard"]


async def test_leaving_what_was_never_watched_is_nothing(
    readers: Callable[[], Reader],
) -> None:
    await relay().leave(NAME, readers().outbox)


async def test_a_slow_reader_is_cut_off_and_holds_up_nobody(
    readers: Callable[[], Reader],
) -> None:
    slow, quick = readers(), readers()
    slow.reads.clear()
    await relay().join(NAME, slow.outbox)
    await relay().join(NAME, quick.outbox)
    for number in range(OUTBOX_LIMIT + 3):
        await publish(str(number))
        await until(lambda n=number: len(quick.got) == n + 1)  # type: ignore[misc]
    async with asyncio.timeout(60):
        await slow.cut.wait()
    assert slow.got == []


async def test_a_reader_that_fails_to_take_ends_its_outbox_alone(
    readers: Callable[[], Reader],
) -> None:
    async def fail(_text: str) -> None:
        raise RuntimeError("gone")

    quick, gone = readers(), readers()
    broken = Outbox(fail, gone._cut_off)
    await relay().join(NAME, broken)
    await relay().join(NAME, quick.outbox)
    await publish("a")
    await publish("b")
    await until(lambda: quick.got == ["a", "b"])
    await relay().leave(NAME, broken)
    await broken.close()


class LostLayer:
    """A channel layer whose server is away, from a call on."""

    def __init__(self, fails: str) -> None:
        self._fails = fails

    def _may_fail(self, call: str) -> None:
        if call == self._fails:
            raise redis.ConnectionError("away")

    async def new_channel(self) -> str:
        self._may_fail("new_channel")
        return "one"

    async def group_add(self, _name: str, _channel: str) -> None:
        self._may_fail("group_add")

    async def group_discard(self, _name: str, _channel: str) -> None:
        return

    async def receive(self, _channel: str) -> dict[str, Any]:
        self._may_fail("receive")
        await asyncio.Event().wait()
        raise AssertionError("the wait has no end")


@pytest.mark.parametrize("fails", ["new_channel", "group_add"])
async def test_a_watch_that_cannot_begin_says_so_and_can_be_tried_again(
    monkeypatch: pytest.MonkeyPatch, readers: Callable[[], Reader], fails: str
) -> None:
    layers = [LostLayer(fails), LostLayer("nothing")]
    monkeypatch.setattr(relay_module, "get_channel_layer", lambda: layers.pop(0))
    own, reader = Relay(), readers()
    with pytest.raises(redis.ConnectionError):
        await own.join(NAME, reader.outbox)
    await own.join(NAME, reader.outbox)
    await own.leave(NAME, reader.outbox)


async def test_sockets_are_closed_when_the_layer_is_lost(
    monkeypatch: pytest.MonkeyPatch, readers: Callable[[], Reader]
) -> None:
    monkeypatch.setattr(relay_module, "get_channel_layer", lambda: LostLayer("receive"))
    own, reader = Relay(), readers()
    await own.join(NAME, reader.outbox)
    async with asyncio.timeout(60):
        await reader.cut.wait()
    await own.leave(NAME, reader.outbox)
