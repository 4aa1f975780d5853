"""What lists of many groups and the page of a large group take at the server.

    python -m benchmarks.watching [--groups 10000] [--queues 1000] [--repeat 40]

`after a sweep` is the list when each request is the first one since a sweep.

A web process of its own serves a large cluster from the cache, and sweeps go on
meanwhile: a new overview is stored every ten seconds, as the collector does. Times are
from the request to the last byte of the answer, on one connection of the same machine;
processor time of the web process is printed beside them.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

import orjson
import redis

from benchmarks.goals import Goal
from dashboard.live.documents import Overview
from dashboard.live.names import group_key, overview_columns_key, overview_key
from dashboard.live.overview_rows import OverviewEncoder
from tests.dashboard.documents import large_group, looked_at, now_ms, overview_row

from .whatif_page import CLUSTER, GROUP, process_seconds, served

LIST_GOAL_MS: Final = 50.0
PAGE_GOAL_MS: Final = 100.0
SWEEP_SECONDS: Final = 10.0
SHARE: Final = 0.95
WORDS: Final = ("orders", "payments", "invoices", "search", "audit", "mail")


def make_overview(groups: int, number: int) -> Overview:
    """Return a cluster of so many groups, as sweep `number` saw it."""
    chance = Random(number)
    levels = ("ok",) * 90 + ("unk",) * 4 + ("warn",) * 4 + ("crit",) * 2
    words = {"crit": "stalled", "warn": "falling_behind", "unk": "unknown"}
    rows = []
    for at in range(groups):
        level = levels[at * 100 // groups]
        topics = [f"{WORDS[at % 6]}-{at % 900}", f"{WORDS[at % 5]}-{at % 70}"]
        row = overview_row(
            f"{WORDS[at % 6]}-team-{at % 37}-consumers-{at}",
            topics=topics[: 1 + at % 2],
            status={"level": level, "word": words.get(level, "healthy")},
            lag=chance.randrange(100_000),
            oldest_ms=chance.randrange(60_000),
            rate_in=chance.random() * 500,
            rate_out=chance.random() * 500,
            lag_trend=[chance.randrange(100_000) for _ in range(30)],
            complete=True,
            brokers=[f"broker-{at % 8}", f"broker-{(at + 1) % 8}"],
            versions=["V5_3_1"],
        )
        rows.append(row)
    rows.reverse()
    return looked_at(groups=rows, cluster=CLUSTER, seq=number)


@contextmanager
def sweeping(client: Any, groups: int) -> Iterator[Callable[[], object]]:
    """Store an overview now, and a new one every ten seconds until the end."""
    encoder, numbers = OverviewEncoder(), itertools.count(1000)
    sweeps = [
        (number, encoder.encode(make_overview(groups, number)))
        for number in itertools.islice(numbers, 4)
    ]
    ended = threading.Event()

    def store() -> None:
        # What differs is the number, which has as many digits as it had.
        number = next(numbers)
        before, texts = sweeps[number % len(sweeps)]
        old, new = (b'"seq":%d,' % each for each in (before, number))
        overview, columns = (text.replace(old, new, 1) for text in texts)
        key = overview_key(CLUSTER)
        client.mset({key: overview, overview_columns_key(CLUSTER): columns})

    def sweep() -> None:
        while not ended.wait(SWEEP_SECONDS):
            store()

    store()
    thread = threading.Thread(target=sweep, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        ended.set()
        thread.join()


class Visitor:
    """Somebody who is signed in, on one connection."""

    def __init__(self, address: str, link: str) -> None:
        where = urllib.parse.urlsplit(address)
        self.connection = http.client.HTTPConnection(where.netloc, timeout=120)
        self.cookies: dict[str, str] = {}
        _status, body = self.get(link.removeprefix(address))
        token = body.partition(b'name="csrfmiddlewaretoken" value="')[2]
        form = {"csrfmiddlewaretoken": token.partition(b'"')[0].decode()}
        self.post(link.removeprefix(address), form, address)

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Ask for a path; return the status and the body as it came."""
        return self._send("GET", path, None, headers)

    def post(self, path: str, form: dict[str, str], origin: str) -> tuple[int, bytes]:
        """Send a form."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": origin,
        }
        return self._send("POST", path, urllib.parse.urlencode(form), headers)

    def _send(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        self.connection.request(method, path, body, {"Cookie": cookie, **headers})
        answer = self.connection.getresponse()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _is, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return answer.status, answer.read()


def at_server(
    who: tuple[Visitor, int],
    name: str,
    paths: list[str],
    repeat: int,
    *,
    goal_ms: float,
    before_each: Callable[[], object] = lambda: None,
) -> None:
    """Ask for each path in turn, `repeat` times in all; print one line."""
    visitor, pid = who
    took, size = [], 0
    visitor.get(paths[0], **{"Accept-Encoding": "gzip"})
    before = process_seconds(pid)
    for at in range(repeat):
        before_each()
        began = time.perf_counter()
        status, body = visitor.get(
            paths[at % len(paths)], **{"Accept-Encoding": "gzip"}
        )
        took.append((time.perf_counter() - began) * 1000)
        size = max(size, len(body))
        if status != 200:
            raise SystemExit(f"{paths[at % len(paths)]}: {status}")
        time.sleep(0.05)
    used = (process_seconds(pid) - before) * 1000 / repeat
    took.sort()
    p50, p95 = took[len(took) // 2], took[min(len(took) - 1, int(len(took) * SHARE))]
    print(
        f"  {name:30} median {p50:6.1f} ms  95 % {p95:6.1f} ms  max {took[-1]:6.1f} ms"
        f"  processor {used:6.1f} ms  {size / 1000:6.1f} kB"
    )
    print(Goal(f"{name}, 95 %, server", goal_ms, "ms").line(p95), flush=True)


def main() -> None:
    """Print the figures, each beside its goal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--queues", type=int, default=1000)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=40)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as where:
        address, link, valkey, web = where
        with redis.Redis(port=valkey.port) as client:
            state = large_group(
                given.queues, given.members, now_ms(), cluster=CLUSTER, group=GROUP
            )
            client.set(group_key(CLUSTER, GROUP), orjson.dumps(state))
            with sweeping(client, given.groups) as sweep:
                visitor = Visitor(address, link)
                # What a process imports once there are readers is not measured.
                visitor.get("/api/v1/clusters")
                lists((visitor, web), sweep, given)


def lists(
    who: tuple[Visitor, int], sweep: Callable[[], object], given: argparse.Namespace
) -> None:
    """Measure lists of groups and a group's page."""
    print(f"{given.groups:,} groups, {given.repeat} requests each")
    base = f"/clusters/{CLUSTER}/groups/"
    columns = ("lag", "-lag", "group", "-group", "oldest", "members", "-in", "skew")
    words = ("orders", "team-7", "consumers-99", "PAY", "nothing-like-this")
    asked = {
        f"list of {given.groups:,} groups": ([base], LIST_GOAL_MS),
        "overview": ([f"/clusters/{CLUSTER}/"], LIST_GOAL_MS),
        "search": ([f"{base}?q={word}" for word in words], LIST_GOAL_MS),
        "sort": ([f"{base}?sort={each}" for each in columns], LIST_GOAL_MS),
        "filter": (
            [f"{base}?level=crit", f"{base}?f.topic=orders-6", f"{base}?page=90"],
            LIST_GOAL_MS,
        ),
        f"group, {given.queues} queues": ([f"{base}{GROUP}/"], PAGE_GOAL_MS),
    }
    for name, (paths, goal) in asked.items():
        at_server(who, name, paths, given.repeat, goal_ms=goal)
    at_server(
        *(who, "list, the first after a sweep", [base], given.repeat),
        goal_ms=LIST_GOAL_MS,
        before_each=sweep,
    )


if __name__ == "__main__":
    main()
