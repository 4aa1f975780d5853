"""How long a change of a client's queues takes to appear on a page.

    python -m benchmarks.live_latency [--changes 30] [--sockets 200] [--java] [--check]

Starts the whole stack as a user does, opens a group's page in Chromium and `--sockets`
further live sockets that watch the same group, and lets members join and leave at
random. For each change of a member's queues it measures the time from the moment at
which the client changed its process queues (by the client's own clock, on the same
machine) to the moment at which the page's table shows the member with exactly these
queues; a change that the next one of the same member overtook is not counted.

- fleet: members of the fleet on the embedded cluster; goal: 95 % within 300 ms.
- `--java`: members in a JVM of their own on an Apache RocketMQ (fetched as the tests
  do; needs java and mvn), which report nothing and are asked; goal: 95 % within 1.5 s.

`--check` fails when a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

import redis.asyncio
import websockets
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from rmqcore.admin import Admin
from tests.support.apache import start_cluster
from tests.support.browser import find_chromium
from tests.support.java_driver import JavaDriver
from tests.support.launched import LaunchedStack
from tests.support.valkey import Valkey

FLEET_GOAL_MS: Final = 300.0
JAVA_GOAL_MS: Final = 1500.0
MOST_MEMBERS: Final = 6
PAUSE_SECONDS: Final = (2.0, 5.0)
SETTLE_SECONDS: Final = 4.0
SHARE: Final = 0.95
JAVA_TOPIC: Final = "latency"
JAVA_GROUP: Final = "latency-members"
DEMO_GROUP: Final = "demo-consumers"

_OBSERVE: Final = """() => {
  const body = document.querySelector("[data-queues] tbody");
  window.shown = [];
  let last = "";
  const read = () => {
    const rows = [...body.children].map((row) => {
      const owner = row.children[2]?.title ?? "";
      return [row.dataset.key, owner];
    });
    const text = JSON.stringify(rows.sort());
    if (text === last) return;
    last = text;
    window.shown.push([performance.timeOrigin + performance.now(), rows]);
  };
  new MutationObserver(read).observe(body, {
    subtree: true, childList: true, characterData: true, attributes: true,
  });
  read();
}"""

Queues: TypeAlias = frozenset[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Change:
    """A member's queues from a moment on, as the client itself says."""

    client_id: str
    queues: Queues
    at_ms: float


@dataclass(frozen=True, slots=True)
class Shown:
    """The owners that the page showed from a moment on."""

    at_ms: float
    owners: dict[str, Queues]


class Members:
    """Members that can join and leave, and the changes that they tell."""

    cluster: str
    group: str

    async def join(self) -> None:
        """Let one member more join."""
        raise NotImplementedError

    async def leave(self) -> None:
        """Let one member leave."""
        raise NotImplementedError

    async def changes(self) -> list[Change]:
        """Return what the members told so far, in order."""
        raise NotImplementedError


class FleetMembers(Members):
    """Members of the demo's group, wished for by the page's own requests."""

    cluster = "embedded"
    group = DEMO_GROUP

    def __init__(self, page: Page, redis_url: str) -> None:
        self._page = page
        self._changes: list[Change] = []
        self._client = redis.asyncio.Redis.from_url(redis_url)
        self._listening = asyncio.create_task(self._listen())

    async def join(self) -> None:
        await self._page.locator("[data-add]").first.click()

    async def leave(self) -> None:
        await self._page.locator("[data-remove]").first.click()

    async def changes(self) -> list[Change]:
        return list(self._changes)

    async def _listen(self) -> None:
        async with self._client.pubsub() as pubsub:
            await pubsub.psubscribe("*allocated:*")
            async for message in pubsub.listen():
                if message["type"] == "pmessage":
                    self._take(json.loads(message["data"]))

    def _take(self, word: dict[str, Any]) -> None:
        queues = frozenset((t, b, q) for t, b, q in word["queues"])
        before = [c for c in self._changes if c.client_id == word["client_id"]]
        if not before or before[-1].queues != queues:
            self._changes.append(Change(word["client_id"], queues, word["since"]))


class JavaMembers(Members):
    """Consumers in a JVM of their own; its lines carry their times."""

    cluster = "apache"
    group = JAVA_GROUP

    def __init__(self, java: JavaDriver) -> None:
        self._java = java
        self._names: list[str] = []
        self._number = 0

    async def join(self) -> None:
        self._number += 1
        name = f"member-{self._number}"
        self._names.append(name)
        await asyncio.to_thread(
            self._java.start_consumer, name, group=JAVA_GROUP, topic=JAVA_TOPIC
        )

    async def leave(self) -> None:
        await asyncio.to_thread(self._java.stop_consumer, self._names.pop(0))

    async def changes(self) -> list[Change]:
        return [
            Change(
                event["client_id"],
                frozenset((t, b, q) for t, b, q in event["queues"] if t == JAVA_TOPIC),
                event["at"],
            )
            for event in self._java.events()
            if event["event"] == "allocation"
        ]


async def drive(
    members: Members, page: Page, changes: int, chance: Random
) -> tuple[list[Change], list[Shown]]:
    """Let members come and go; return what clients told and what the page showed."""
    count = 1
    await page.evaluate(_OBSERVE)
    for _ in range(changes):
        joins = count == 1 or (count < MOST_MEMBERS and chance.random() < 0.5)
        await (members.join() if joins else members.leave())
        count += 1 if joins else -1
        await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
    await asyncio.sleep(SETTLE_SECONDS)
    shown = [read_shown(at, rows) for at, rows in await page.evaluate("window.shown")]
    return await members.changes(), shown


def read_shown(at_ms: float, rows: list[list[str]]) -> Shown:
    """Read the table's rows: a queue's key, and its owners' ids."""
    owners: dict[str, set[tuple[str, str, int]]] = {}
    for key, ids in rows:
        topic, broker, queue_id = key.split("|")
        for client_id in filter(None, ids.split(", ")):
            owners.setdefault(client_id, set()).add((topic, broker, int(queue_id)))
    return Shown(at_ms, {each: frozenset(held) for each, held in owners.items()})


def latencies(changes: list[Change], shown: list[Shown]) -> tuple[list[float], int]:
    """Return milliseconds from each change to the page, and how many never came.

    A change with a successor of the same member before it was shown is left out, and
    so is what the page had shown from the start.
    """
    took: list[float] = []
    missed = 0
    for index, change in enumerate(changes):
        if change.at_ms < shown[0].at_ms:
            continue
        until_ms = next(
            (
                later.at_ms
                for later in changes[index + 1 :]
                if later.client_id == change.client_id
            ),
            float("inf"),
        )
        seen = next(
            (
                look.at_ms
                for look in shown
                if look.at_ms >= change.at_ms
                and look.owners.get(change.client_id, frozenset()) == change.queues
            ),
            None,
        )
        if seen is not None and seen <= until_ms:
            took.append(seen - change.at_ms)
        elif until_ms == float("inf"):
            missed += 1
    return sorted(took), missed


def report(name: str, took: list[float], missed: int, goal_ms: float) -> bool:
    """Print one line; return whether the goal was met."""
    if not took:
        print(f"{name:8} no change was seen")
        return False
    p50, p95 = (took[min(len(took) - 1, int(len(took) * q))] for q in (0.5, SHARE))
    met = p95 <= goal_ms and not missed
    print(
        f"{name:8} {len(took):4} changes  median {p50:6.0f} ms  95 % {p95:6.0f} ms  "
        f"max {took[-1]:6.0f} ms  never shown {missed}  goal {goal_ms:.0f} ms: "
        f"{'met' if met else 'missed'}",
        flush=True,
    )
    return met


async def sit_and_watch(
    address: str, cookie: str, watch: dict[str, str], ready: asyncio.Event
) -> None:
    """Hold one live socket open, reading all that comes."""
    url = address.replace("http", "ws", 1) + "/ws/live/"
    headers = {"Cookie": cookie, "Origin": address}
    async with websockets.connect(
        url, additional_headers=headers, open_timeout=60, compression=None
    ) as socket:
        await socket.send(json.dumps({"op": "watch", **watch}))
        async for _message in socket:
            ready.set()


async def measure(
    stack: LaunchedStack,
    make_members: Callable[[Page], Awaitable[Members]],
    args: argparse.Namespace,
) -> tuple[list[float], int]:
    """Open page and sockets, and measure."""
    async with async_playwright() as playwright:
        browser: Browser = await playwright.chromium.launch(
            executable_path=find_chromium(), args=["--no-sandbox"]
        )
        context: BrowserContext = await browser.new_context(
            viewport={"width": 1440, "height": 900}
        )
        page = await context.new_page()
        await page.goto(await asyncio.to_thread(stack.sign_in_link))
        if "/sign-in/" in page.url:
            await page.locator("main button[type=submit]").click()
            await page.wait_for_url(lambda url: "/sign-in/" not in url)
        members = await make_members(page)
        await page.goto(
            f"{stack.address}/clusters/{members.cluster}/groups/{members.group}/"
        )
        await page.locator("[data-queues] tbody tr").first.wait_for(timeout=60_000)
        cookie = "; ".join(
            f"{each['name']}={each['value']}" for each in await context.cookies()
        )
        watch = {"cluster": members.cluster, "group": members.group}
        ready = [asyncio.Event() for _ in range(args.sockets)]
        sockets = []
        for event in ready:
            sitting = sit_and_watch(stack.address, cookie, watch, event)
            sockets.append(asyncio.create_task(sitting))
            await asyncio.sleep(0.01)
        await asyncio.gather(*(asyncio.wait_for(e.wait(), 120) for e in ready))
        told, shown = await drive(members, page, args.changes, Random(args.seed))
        failed = [task for task in sockets if task.done()]
        for task in sockets:
            task.cancel()
        await asyncio.gather(*sockets, return_exceptions=True)
        if failed:
            print(f"{len(failed)} of {len(sockets)} sockets ended early")
        with suppress(Exception):
            await browser.close()
    return latencies(told, shown)


@contextmanager
def launched(folder: Path, env: dict[str, str]) -> Iterator[tuple[LaunchedStack, str]]:
    """The stack as a user starts it, with a Valkey that this program can read too."""
    valkey = Valkey(folder)
    valkey.start()
    stack = LaunchedStack(folder, {"ROCKETSCOPE_REDIS_URL": valkey.url, **env})
    try:
        yield stack, valkey.url
    finally:
        stack.stop()
        valkey.kill()


def fleet(args: argparse.Namespace) -> bool:
    """Measure members of the fleet."""
    with (
        tempfile.TemporaryDirectory(prefix="latency-") as folder,
        launched(Path(folder), {}) as (stack, redis_url),
    ):

        async def make(page: Page) -> Members:
            return FleetMembers(page, redis_url)

        took, missed = asyncio.run(measure(stack, make, args))
    return report("fleet", took, missed, FLEET_GOAL_MS)


def java(args: argparse.Namespace) -> bool:
    """Measure members in a JVM on an Apache RocketMQ."""
    with ExitStack() as stacked:
        folder = Path(
            stacked.enter_context(tempfile.TemporaryDirectory(prefix="latency-"))
        )
        apache = stacked.enter_context(start_cluster(folder / "apache", brokers=2))
        asyncio.run(_make_topic(apache.nameserver))
        driver = stacked.enter_context(JavaDriver(apache.nameserver, folder / "java"))
        members = JavaMembers(driver)
        asyncio.run(members.join())
        stack, _url = stacked.enter_context(
            launched(folder, {"ROCKETSCOPE_CLUSTERS": f"apache={apache.nameserver}"})
        )

        async def make(_page: Page) -> Members:
            return members

        took, missed = asyncio.run(measure(stack, make, args))
    return report("java", took, missed, JAVA_GOAL_MS)


async def _make_topic(nameserver: str) -> None:
    async with Admin(nameserver) as admin:
        await admin.create_topic(JAVA_TOPIC, 8)


def main() -> int:
    """Measure what was asked for; the exit code is 1 when `--check` fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--changes", type=int, default=30, help="joins and leaves")
    parser.add_argument("--sockets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--java", action="store_true", help="Java members, on Apache")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if find_chromium() is None:
        parser.error("Chromium is not installed")
    began = time.monotonic()
    met = fleet(args)
    if args.java:
        met = java(args) and met
    print(f"{args.sockets} sockets open, {time.monotonic() - began:.0f} s in all")
    return 0 if met or not args.check else 1


if __name__ == "__main__":
    sys.exit(main())
