"""Two collectors as processes, of which one is killed or frozen by the kernel."""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.stand_in import StandIn
from tests.support.collector_workers import CollectorWorkers, Head
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.slow]

CLUSTERS = 2


class Watched:
    """The workers, and every list of groups that they were seen to publish."""

    def __init__(self, workers: CollectorWorkers) -> None:
        self.workers = workers
        self.seen: dict[str, list[Head]] = defaultdict(list)

    def look(self) -> None:
        for cluster, head in self.workers.heads().items():
            if self.seen[cluster][-1:] != [head]:
                self.seen[cluster].append(head)

    def until(self, holds: Callable[[], bool], what: str) -> None:
        def looked() -> bool:
            self.look()
            return holds()

        wait_until(looked, what)

    def until_shared(self, **shares: int) -> None:
        self.until(lambda: self.workers.shares() == shares, f"leaders are {shares}")

    def until_all_are_swept(self) -> None:
        since = time.time() * 1000
        self.until(
            lambda: all(
                any(head.taken_at > since for head in self.seen[cluster])
                for cluster in self.workers.clusters
            ),
            "every cluster has a new list",
        )


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    stand_in = StandIn(clusters=CLUSTERS, groups=3, topics=2, queues=2, members=0)
    try:
        clusters = {f"c{n}": address for n, address in enumerate(stand_in.addresses)}
        with CollectorWorkers(tmp_path, clusters) as workers:
            yield Watched(workers)
    finally:
        stand_in.end()


def test_what_a_killed_or_frozen_collector_led_is_led_by_the_other(
    watched: Watched,
) -> None:
    workers = watched.workers
    workers.start("one")
    watched.until_shared(one=2)
    workers.start("two")
    watched.until_shared(one=1, two=1)

    workers.signal("two", signal.SIGKILL)
    watched.until_shared(one=2)
    watched.until_all_are_swept()
    workers.start("two")
    watched.until_shared(one=1, two=1)

    workers.signal("one", signal.SIGSTOP)
    watched.until_shared(two=2)
    watched.until_all_are_swept()
    workers.signal("one", signal.SIGCONT)
    watched.until_shared(one=1, two=1)
    watched.until_all_are_swept()

    assert len(watched.seen) == CLUSTERS
    for heads in watched.seen.values():
        # In the order in which they were seen. Runs are named after their time.
        assert heads == sorted(set(heads))
