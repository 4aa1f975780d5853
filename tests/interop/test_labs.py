"""Labs on a real Apache RocketMQ, at its own pace: the rules they show are Apache's."""

from __future__ import annotations

import asyncio

import pytest

from rmqcore.labs import LABS
from tests.support.apache import ApacheCluster

from .versions import OLDER_TOO

pytestmark = [pytest.mark.interop, OLDER_TOO]

SHORTER = {"F8": {"retries": 1}}
"""Each further retry comes after a longer delay, up to a minute."""

LONG = ("F7", "F4", "F8")
"""Those that wait for locks and delays of the broker's."""

AT_ONCE = 4


async def test_every_lab_shows_on_apache_what_it_is_about(
    apache: ApacheCluster,
) -> None:
    stages = asyncio.Semaphore(AT_ONCE)

    async def play(name: str) -> list[str]:
        """Play a lab and return what was not seen."""
        async with stages:
            result = await LABS[name].run(
                nameservers=apache.nameserver,
                parameters=SHORTER.get(name),
                observer=lambda step: None,
                # A broker of 4.x unmaps what it may be writing to, and dies of it.
                clean_up=not apache.version.startswith("4."),
            )
        return [claim.text for claim in result.evidence.claims if not claim.seen]

    names = (*LONG, *(name for name in LABS if name not in LONG))
    async with asyncio.TaskGroup() as playing:
        unseen = {name: playing.create_task(play(name)) for name in names}
    assert {name: task.result() for name, task in unseen.items()} == {
        name: [] for name in LABS
    }
