"""A crowded cluster, the whole stack beside it, visitors, and a machine with a load.

The other groups are written into the brokers' files before these start: they have
committed offsets of topics with messages, and no members.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import redis

from benchmarks import snapshot
from benchmarks.running import Running, looping
from benchmarks.session import Session
from benchmarks.seven_groups import BY_NAME, SevenGroups, send_traffic
from benchmarks.silence.watching import Page
from tests.support.apache import start_cluster
from tests.support.launched import LaunchedStack
from tests.support.process import Process

from .figures import Tally, logs_of, tally
from .growth import Size, sizes
from .visitor import Visitor

CLUSTER: Final = "apache"
BROKERS: Final = 2
TOPICS: Final = 900
QUEUES: Final = 4
"""Of each topic on each broker; a group reads two topics, so it has 16 queues."""

MESSAGES: Final = 4
START_S: Final = 600.0
METRICS_S: Final = 120.0
_BURN: Final = """
import sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    sum(range(10_000))
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """How much there is of everything; `messages` a second and topic of the seven."""

    groups: int
    messages: float
    sockets: int
    visitors: int
    report_every_s: float


class Surroundings(Running):
    """Everything that runs; a context manager that ends it all. For the main thread."""

    def __init__(self, folder: Path, wish: Wish) -> None:
        self._folder = folder
        self._wish = wish
        self.visitors: list[Visitor] = []

    @property
    def var_dir(self) -> Path:
        """Where the stack keeps what it writes."""
        return self.stack.var_dir

    def burn(self, count: int, seconds: float) -> None:
        """Let so many processes compute for so long, or until all of this ends."""
        for number in range(count):
            log = self._folder / f"burner-{number}.log"
            burner = Process([sys.executable, "-c", _BURN, str(seconds)], log=log)
            self._ended.callback(burner.kill)

    def tally(self) -> Tally:
        """Return what the stack says of itself; waits while it says nothing."""
        deadline = time.monotonic() + METRICS_S
        while True:
            status, body = self._session.get("/metrics")
            try:
                logs = logs_of(self.var_dir, self.stack.output())
                return tally(body.decode() if status == 200 else "", logs)
            except ValueError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(1.0)

    def sizes(self) -> dict[str, Size]:
        """Return how much there is of everything that grows."""
        with redis.Redis.from_url(self.stack.redis_url()) as server:
            return sizes(self.var_dir, server)

    def check(self) -> None:
        """Raise what made the traffic or a socket end."""
        for task in self._tasks:
            if task.done():
                task.result()

    def stop_looking(self) -> None:
        """Let the visitors leave."""
        for visitor in self.visitors:
            visitor.stop()

    def _start(self) -> None:
        enter = self._ended.enter_context
        size = snapshot.Size(
            min(TOPICS, self._wish.groups), QUEUES, self._wish.groups, MESSAGES
        )
        apache = enter(
            start_cluster(
                self._folder / "apache",
                brokers=BROKERS,
                settings=snapshot.SETTINGS,
                seed=snapshot.seed(size),
            )
        )
        for address in apache.brokers.values():
            asyncio.run(snapshot.fill(address, size))
        groups = SevenGroups(apache.nameserver, self._folder / "java")
        self._ended.callback(groups.stop)
        groups.start()
        clusters = f"{CLUSTER}={apache.nameserver}"
        self.stack = LaunchedStack(self._folder, {"ROCKETSCOPE_CLUSTERS": clusters})
        self._ended.callback(self.stack.stop)
        self._session = self._signed_in()
        pages = [Page(self._session, CLUSTER) for _ in range(self._wish.sockets)]
        loop = enter(looping("soak"))
        names = tuple(apache.brokers)
        self._tasks = [
            loop.submit(send_traffic(apache.nameserver, names, self._wish.messages)),
            *(loop.submit(page.run()) for page in pages),
        ]
        self._wait_for(pages[0])
        self.visitors = [
            Visitor(
                self._session,
                CLUSTER,
                tuple(BY_NAME),
                report_every_s=self._wish.report_every_s,
            )
            for _ in range(self._wish.visitors)
        ]
        for visitor in self.visitors:
            visitor.start()
        self._ended.callback(self.stop_looking)
        for visitor in self.visitors:
            if not visitor.has_seen_report.wait(START_S):
                raise RuntimeError(f"no report in {START_S:.0f} s: {visitor.visits}")

    def _signed_in(self) -> Session:
        session = Session(self.stack.address)
        session.sign_in(self.stack.sign_in_link())
        return session

    def _wait_for(self, page: Page) -> None:
        """Wait until all groups are listed and the seven have a document."""
        deadline = time.monotonic() + START_S
        expected = self._wish.groups + len(BY_NAME)
        while len(page.groups) < len(BY_NAME) or _listed(page) < expected:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{_listed(page)} groups of {expected} are listed")
            time.sleep(1.0)


def _listed(page: Page) -> int:
    return len(page.overview["groups"]) if page.overview else 0
