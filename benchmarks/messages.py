"""How long a search for messages takes beside the broker, and what a live tail costs.

    python -m benchmarks.messages [--apache] [--messages 50000] [--repeat 5]
        [--tail-seconds 20] [--rate 2000]

A topic of 16 queues on two brokers is filled. Then each search is made in turns: by
the bare questions to the brokers on open connections (request 12 for a key; 29, 29 and
11 for each queue for a span of time), and by opening the page in Chromium, until its
rows stand there. Goal: the page needs at most a second more than the brokers.

After that a producer sends at a rate while the page of the tail is open. Goals: the
page holds no more rows than it says, asks at most once a second, gets at most 1 MB for
each answer, and counts every message; the web process does not grow; frames of the page
come at least 30 times a second, and the page needs at most a quarter of a processor.

With `--apache` the brokers are Apache's (fetched as the tests do; needs java and mvn),
otherwise they are the embedded cluster's in a process of its own. Ends with 1 when a
goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeVar
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan
from rmqcore.client import Producer
from rmqcore.loop_thread import LoopThread
from rmqcore.model import Message
from tests.support.apache import start_cluster
from tests.support.browser import chromium, find_chromium
from tests.support.our_clients import OurCluster
from tests.support.ports import LOOPBACK
from tests.support.web_processes import CLUSTER, WebProcesses, running_web

from .message_tail import follow
from .running import looping

T = TypeVar("T")

TOPIC: Final = "bench"
QUEUES_EACH: Final = 8
BATCH: Final = 50
BODY: Final = b"x" * 200
SHOWN: Final = 500
"""What a search shows at most, and so what the brokers are asked for beside it."""

GOAL_S: Final = 1.0
PATIENCE_S: Final = 120.0
_ROWS: Final = 'document.querySelectorAll("main tbody tr").length'


@dataclass(frozen=True, slots=True)
class Search:
    """One search, by the brokers themselves and as the address of a page."""

    name: str
    bare: Callable[[], Coroutine[Any, Any, int]]
    query: dict[str, str]


def main() -> None:
    """Print a table, and end with 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--apache", action="store_true")
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tail-seconds", type=float, default=20)
    parser.add_argument("--rate", type=int, default=2000)
    given = parser.parse_args()
    if find_chromium() is None:
        raise SystemExit("Chromium is not installed")
    with (
        TemporaryDirectory() as name,
        cluster(Path(name), apache=given.apache) as nameserver,
        looping("bench") as loop,
        running_web(
            Path(name), count=1, settings={"ROCKETSCOPE_CLUSTERS": _named(nameserver)}
        ) as web,
        chromium() as browser,
    ):
        _on(loop, fill(nameserver, given.messages))
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        sign_in(page, web)
        address = f"http://{LOOPBACK}:{web.ports[0]}/clusters/{CLUSTER}/messages/"
        kind = "Apache RocketMQ" if given.apache else "embedded cluster"
        print(f"{kind}, {given.messages:,} messages, {given.repeat} runs\n")
        with attached(loop, nameserver) as admin:
            made = _on(loop, searches(admin, given.messages))
            met = compare(loop, made, page, address, given.repeat)
        tail = partial(send_at, nameserver, given.rate, given.tail_seconds)
        met &= follow(page, f"{address}tail/?topic={TOPIC}", web.pids[0], loop, tail)
    sys.exit(0 if met else 1)


@contextmanager
def cluster(folder: Path, *, apache: bool) -> Iterator[str]:
    """Run a cluster of two brokers; yield its name server."""
    if apache:
        with start_cluster(folder / "apache", brokers=2) as theirs:
            yield theirs.nameserver
    else:
        with OurCluster(folder / "embedded", brokers=2) as ours:
            yield ours.nameserver


@contextmanager
def attached(loop: LoopThread, nameserver: str) -> Iterator[Admin]:
    """Attach an admin client, for questions on connections that stay open."""
    opened = AsyncExitStack()
    admin = _on(loop, opened.enter_async_context(Admin(nameserver)))
    try:
        yield admin
    finally:
        _on(loop, opened.aclose())


async def fill(nameserver: str, count: int) -> None:
    """Create the topic and send messages with a key each, one after another."""
    async with Admin(nameserver) as admin:
        await admin.create_topic(TOPIC, QUEUES_EACH)
    async with Producer(nameserver, group="bench") as producer:
        for first in range(0, count, BATCH):
            await producer.send_batch(_batch(first, min(BATCH, count - first)))


async def send_at(nameserver: str, rate: int, seconds: float) -> int:
    """Send messages evenly at a rate; return how many were stored."""
    sent, began = 0, time.monotonic()
    async with Producer(nameserver, group="bench") as producer:
        while (spent := time.monotonic() - began) < seconds:
            if sent > spent * rate:
                await asyncio.sleep(sent / rate - spent)
            await producer.send_batch(_batch(sent, BATCH))
            sent += BATCH
    return sent


def sign_in(page: Page, web: WebProcesses) -> None:
    """Use a one-time link, which names the port of the settings."""
    path = urlsplit(web.manage("sign_in_link").split()[-1]).path
    page.goto(f"http://{LOOPBACK}:{web.ports[0]}{path}")
    if "/sign-in/" in page.url:
        page.locator("main button[type=submit]").click()


def compare(
    loop: LoopThread, made: Sequence[Search], page: Page, address: str, repeat: int
) -> bool:
    """Make each search in turns; print the medians; tell whether the goal was met."""
    print(f"  {'search':10}{'rows':>6}{'broker':>12}{'page':>12}{'page - broker':>16}")
    met = True
    for search in made:
        bare, drawn, rows = [], [], 0
        for _ in range(repeat + 1):
            bare.append(timed(partial(_answered, loop, search)))
            rows, took = opened(page, f"{address}?{urlencode(search.query)}")
            drawn.append(took)
        # The first of each opens connections and loads scripts.
        theirs, ours = median(bare[1:]), median(drawn[1:])
        is_met = ours - theirs <= GOAL_S and rows > 0
        met &= is_met
        print(
            f"  {search.name:10}{rows:>6}{theirs * 1000:>9.0f} ms"
            f"{ours * 1000:>9.0f} ms{(ours - theirs) * 1000:>13.0f} ms"
            f"  goal ≤ {GOAL_S:g} s: {'met' if is_met else 'MISSED'}"
        )
    return met


async def searches(admin: Admin, count: int) -> list[Search]:
    """Return a search by a key in the middle, and by time over three fifths."""
    begin = await stored_at(admin, count // 5)
    end = await stored_at(admin, count * 4 // 5)
    key = f"key-{count // 2}"

    async def by_key() -> int:
        return len((await admin.messages_by_key(TOPIC, key)).messages)

    async def by_time() -> int:
        spans = (await admin.queue_spans(TOPIC)).spans
        parts = [_pulled(admin, each, begin, end, len(spans)) for each in spans]
        return sum(await asyncio.gather(*parts))

    span = {"begin": _written(begin), "end": _written(end)}
    return [
        Search("by key", by_key, {"by": "key", "topic": TOPIC, "key": key}),
        Search("by time", by_time, {"by": "time", "topic": TOPIC, **span}),
    ]


async def stored_at(admin: Admin, number: int) -> int:
    """Return when a message was stored, in ms, once its broker has indexed it."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await admin.messages_by_key(TOPIC, f"key-{number}")
            if found.messages:
                return found.messages[0].store_timestamp
            await asyncio.sleep(0.1)


def timed(work: Callable[[], object]) -> float:
    """Return how many seconds some work took."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def opened(page: Page, url: str) -> tuple[int, float]:
    """Open a page; return its rows, and the seconds until they stood there."""
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_function(f"{_ROWS} > 0", polling="raf", timeout=PATIENCE_S * 1000)
    took = time.perf_counter() - began
    page.wait_for_load_state()
    return int(page.evaluate(_ROWS)), took


# Private


def _answered(loop: LoopThread, search: Search) -> int:
    return _on(loop, search.bare())


async def _pulled(
    admin: Admin, span: QueueSpan, begin_ms: int, end_ms: int, queues: int
) -> int:
    low = await admin.search_offset(span.queue, begin_ms)
    high = await admin.search_offset(span.queue, end_ms + 1)
    share = SHOWN // queues
    at = max(low, high - share)
    return len((await admin.messages_at(span, at, high - at)).messages)


def _batch(first: int, count: int) -> list[Message]:
    return [
        Message.of(TOPIC, BODY, tags="bench", keys=[f"key-{number}"])
        for number in range(first, first + count)
    ]


def _named(nameserver: str) -> str:
    return f"{CLUSTER}={nameserver}"


def _on(loop: LoopThread, work: Coroutine[Any, Any, T]) -> T:
    return loop.call(work, PATIENCE_S)


def _written(moment_ms: int) -> str:
    return datetime.fromtimestamp(moment_ms / 1000, UTC).isoformat()


if __name__ == "__main__":
    main()
