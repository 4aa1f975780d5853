"""Listeners that block, never end, hog or leave: they hurt their own group alone."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.fleet import listeners, member_listener
from dashboard.fleet.host import FleetHost
from dashboard.models import ManagedMember
from rmqcore.client import ConsumeResult
from rmqcore.client.rebalance import rebalancer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError
from tests.dashboard.fleet.test_host import (
    Make,
    client,
    cluster,
    followed,
    in_thread,
    make,
)
from tests.dashboard.fleet.wishes import group
from tests.support.cluster import produce
from tests.support.waiting import PATIENCE_SECONDS, eventually, until_seen

__all__ = ["client", "cluster", "make"]

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = "CONSUME_FROM_FIRST_OFFSET"


class Listeners:
    """Listeners of a user, and what they have seen; `release` ends those that hang."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.release, self.began, self.seen = (threading.Event() for _ in range(3))
        self.add("quick", self._quick)

    def add(self, name: str, listener: Any) -> None:
        self.make_with(name, lambda _options: listener)

    def make_with(self, name: str, maker: Any) -> None:
        self._patch.setitem(listeners._makers, name, maker)

    def hang(self) -> None:
        self.began.set()
        assert self.release.wait(2 * PATIENCE_SECONDS)

    async def _quick(self, _messages: object, _context: object) -> ConsumeResult:
        self.seen.set()
        return ConsumeResult.SUCCESS


@pytest.fixture
def user(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listeners]:
    made = Listeners(monkeypatch)
    # Members that leave do not wait long for a call that never ends.
    monkeypatch.setattr(rebalancer, "RELEASE_WAIT_S", 0.05)
    yield made
    made.release.set()


async def happened(event: threading.Event) -> None:
    async def is_set() -> bool:
        return event.is_set()

    await eventually(is_set, True)


async def another_group_consumes(host: FleetHost, user: Listeners) -> None:
    await host._database(
        lambda: group(name="b", listener="quick", start_position=FIRST)
    )

    async def step() -> bool:
        await host.follow_once()
        return user.seen.is_set()

    await eventually(step, True)


async def all_leave(host: FleetHost) -> None:
    await ManagedMember.objects.aupdate(wanted=False)
    await followed(host, [])


async def test_an_async_listener_that_blocks_its_loop_holds_up_its_own_group(
    make: Make, cluster: LocalCluster, user: Listeners
) -> None:
    async def hog(_messages: object, _context: object) -> ConsumeResult:
        user.hang()
        return ConsumeResult.SUCCESS

    user.add("hog", hog)
    await in_thread(lambda: group(listener="hog", start_position=FIRST))
    await produce(cluster, 50)
    host = make()
    await followed(host, [16])
    await happened(user.began)
    await another_group_consumes(host, user)
    await all_leave(host)


async def test_an_async_listener_that_refuses_to_end_does_not_keep_its_member(
    make: Make, cluster: LocalCluster, user: Listeners
) -> None:
    async def stubborn(_messages: object, _context: object) -> ConsumeResult:
        user.began.set()
        while not user.release.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return ConsumeResult.SUCCESS

    user.add("stubborn", stubborn)
    await in_thread(lambda: group(listener="stubborn", start_position=FIRST))
    await produce(cluster, 50)
    host = make()
    await followed(host, [16])
    await happened(user.began)
    await all_leave(host)
    # The row goes once the member has left.
    await until_seen(ManagedMember.objects.acount, lambda left: left == 0)


@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_a_listener_that_exits_only_fails(
    kind: str, make: Make, cluster: LocalCluster, user: Listeners
) -> None:
    def exits(_messages: object, _context: object) -> ConsumeResult:
        user.began.set()
        sys.exit("enough")

    async def exits_too(_messages: object, _context: object) -> ConsumeResult:
        return exits(_messages, _context)

    user.add("exits", exits if kind == "plain" else exits_too)
    await in_thread(lambda: group(listener="exits", start_position=FIRST))
    await produce(cluster, 5)
    host = make()
    await followed(host, [16])
    await happened(user.began)
    await another_group_consumes(host, user)


async def error(host: FleetHost) -> str:
    async def ask() -> str:
        await host.follow_once()
        return (await ManagedMember.objects.aget(group__name="billing")).error

    return await until_seen(ask, bool)


async def test_a_listener_that_cannot_be_made_is_refused_with_the_reason(
    make: Make, cluster: LocalCluster, user: Listeners
) -> None:
    user.make_with("broken", lambda options: options["rate"])
    await in_thread(lambda: group(listener="broken"))
    host = make()
    assert "listener 'broken' cannot be made: KeyError: 'rate'" in await error(host)
    await produce(cluster, 5)
    await another_group_consumes(host, user)


async def test_a_listener_whose_making_never_ends_holds_up_its_own_group(
    make: Make, cluster: LocalCluster, user: Listeners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listeners, "MAKE_SECONDS", 0.1)
    user.make_with("slow", lambda _options: user.hang())
    await in_thread(lambda: group(listener="slow"))
    await produce(cluster, 5)
    host = make()
    await host.follow_once()
    await happened(user.began)
    await another_group_consumes(host, user)
    assert "listener 'slow' is not made after 0.1 s" in await error(host)


HANGING_MODULE = """
import threading
threading.Event().wait({seconds})
"""


def loading(module: str) -> int:
    """Return how many threads load a module of the user's."""
    return sum(f"module {module!r}" in each.name for each in threading.enumerate())


@pytest.fixture
def hanging_module(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    text = HANGING_MODULE.format(seconds=PATIENCE_SECONDS)
    (tmp_path / "hanging_listeners.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(listeners, "MAKE_SECONDS", 0.1)
    settings.ROCKETSCOPE_LISTENERS = ["hanging_listeners"]


async def test_a_module_that_blocks_at_import_holds_up_its_own_groups(
    make: Make,
    cluster: LocalCluster,
    user: Listeners,
    hanging_module: None,
) -> None:
    await in_thread(lambda: group(listener="hangs"))
    await produce(cluster, 5)
    host = make()
    said = "module 'hanging_listeners' is not loaded after 0.1 s"
    assert said in await error(host)
    await another_group_consumes(host, user)
    before = loading("hanging_listeners")
    assert before >= 1
    for _ in range(5):
        with pytest.raises(ArgumentError, match="'hanging_listeners' is still not"):
            await in_thread(lambda: listeners.make_listener("hangs", {}))
    assert loading("hanging_listeners") == before, "attempts do not pile up"


async def test_a_member_whose_listener_is_being_made_keeps_no_worker_from_leaving(
    make: Make, user: Listeners
) -> None:
    user.make_with("slow", lambda _options: user.hang())
    await in_thread(lambda: group(listener="slow"))
    host = make()
    await host.follow_once()
    await happened(user.began)
    await asyncio.wait_for(host.close(), PATIENCE_SECONDS)
    assert (await ManagedMember.objects.aget()).worker == ""


async def test_a_call_that_runs_long_is_named_once(
    make: Make,
    cluster: LocalCluster,
    user: Listeners,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(member_listener, "BUSY_SECONDS", 0.0)

    async def hog(_messages: object, _context: object) -> ConsumeResult:
        user.hang()
        return ConsumeResult.SUCCESS

    user.add("hog", hog)
    await in_thread(lambda: group(listener="hog", start_position=FIRST))
    host = make()
    await followed(host, [16])
    await produce(cluster, 1)
    await happened(user.began)
    (member,) = host.hosted.values()
    with caplog.at_level(logging.WARNING):
        assert member._holding().busy_since_ms is not None
        assert member._holding().busy_since_ms is not None
    lines = [r.getMessage() for r in caplog.records if "listener" in r.getMessage()]
    assert len(lines) == 1
    assert "group=billing" in lines[0]
    assert member.client_id in lines[0]
    user.release.set()

    async def busy() -> int | None:
        return member._holding().busy_since_ms

    await eventually(busy, None)
