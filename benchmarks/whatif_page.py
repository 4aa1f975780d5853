"""How long the what-if page takes in a browser, from the click to the answer drawn.

python -m benchmarks.whatif_page [--queues 10000] [--members 500] [--repeat 5]

Processor time is printed beside elapsed time, because it is what counts on a machine
that does other things as well.

A web process of its own serves one large group from the cache. "First answer" is from
the beginning of the navigation until the comparison is on the page and both maps are
drawn, in a browser that has the scripts already; "after an edit" is from the key press
until the new comparison is drawn, including the pause of a quarter of a second.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

import orjson
import redis
from playwright.sync_api import Browser, CDPSession, Page

from benchmarks.goals import Goal
from dashboard.live.names import group_key
from tests.dashboard.documents import large_group, now_ms
from tests.support.browser import chromium, find_chromium
from tests.support.ports import LOOPBACK, free_port
from tests.support.process import Process
from tests.support.valkey import Valkey

ROOT: Final = Path(__file__).resolve().parent.parent
CLUSTER: Final = "bench"
GROUP: Final = "orders"
GOAL_SIZE: Final = (10_000, 500)
SERVER: Final = Goal("what-if page, 10,000 queues × 500 members, server", 1000, "ms")
DRAWN_BY: Final = Goal("what-if page, 10,000 queues × 500 members, drawn", 2000, "ms")
START_SECONDS: Final = 60.0
DRAWN: Final = """
() => document.querySelector("[data-after]")?.firstElementChild
  && document.querySelector("[data-before]")?.firstElementChild
  && document.querySelectorAll("table.compared tbody tr").length === 8
  && !document.querySelector(".outdated")
"""


def make_document(queues: int, members: int) -> Any:
    """Return a group's document with unequal rates and lag."""
    rng = Random(5)
    state: Any = large_group(queues, members, now_ms(), cluster=CLUSTER, group=GROUP)
    for row in state["queues"]:
        row["lag"] = int(rng.expovariate(1 / 500))
        row["rate_in"] = rng.expovariate(1 / 40)
    return state


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str, Valkey, int]]:
    """Run a web process; yield its address, a sign-in link, its cache and its id."""
    valkey = Valkey(folder)
    valkey.start()
    port = free_port()
    env = {
        "ROCKETSCOPE_VAR_DIR": str(folder / "var"),
        "ROCKETSCOPE_REDIS_URL": valkey.url,
        "ROCKETSCOPE_CLUSTERS": f"{CLUSTER}={LOOPBACK}:9",
        "ROCKETSCOPE_LISTEN": f"{LOOPBACK}:{port}",
    }
    manage(env, "prepare")
    link = manage(env, "sign_in_link").split()[-1]
    web = Process(
        [
            *(sys.executable, "-m", "dashboard.config.web"),
            *("--host", LOOPBACK, "--port", str(port)),
        ],
        log=folder / "web.log",
        env=env,
        cwd=ROOT,
    )
    address = f"http://{LOOPBACK}:{port}"
    try:
        wait_until(lambda: answers(f"{address}/healthz"), web)
        yield address, link, valkey, web.pid
    finally:
        web.kill()
        valkey.kill()


def manage(env: dict[str, str], *arguments: str) -> str:
    """Run a management command and return what it printed."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def wait_until(holds: Callable[[], bool], web: Process) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not holds():
        if time.monotonic() > deadline or not web.running:
            raise SystemExit(f"the web process did not start:\n{web.tail()}")
        time.sleep(0.05)


def signed_in(browser: Browser, link: str) -> Page:
    """Return a page of the size of a desk's, of somebody who followed a link."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(link)
    if "/sign-in/" in page.url:
        page.locator("main button[type=submit]").click()
    return page


def first_answer(page: Page, url: str) -> dict[str, float]:
    """Open the page; return milliseconds to the answer's last byte and to the maps."""
    page.goto(url, wait_until="commit")
    page.wait_for_function(DRAWN, polling="raf", timeout=120_000)
    timing = page.evaluate(
        """() => {
          const [entry] = performance.getEntriesByType("navigation");
          return {
            server: entry.responseStart - entry.requestStart,
            loaded: entry.responseEnd,
            drawn: performance.now(),
            bytes: entry.decodedBodySize,
          };
        }"""
    )
    return dict(timing)


def renderer_seconds(session: CDPSession) -> float:
    """Return the processor time that the browser's pages have used."""
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return float(sum(p["cpuTime"] for p in processes if p["type"] == "renderer"))


def process_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def after_edit(page: Page, factor: str) -> float:
    """Type another factor; return milliseconds until the new comparison is drawn."""
    before = page.evaluate("() => document.querySelector('#comparison').textContent")
    page.evaluate(
        """(value) => {
          const field = document.querySelector('[data-scenario] [name="x"]');
          field.value = value;
          window.editedAt = performance.now();
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        factor,
    )
    page.wait_for_function(
        f"(before) => ({DRAWN.strip()})() "
        "&& document.querySelector('#comparison').textContent !== before",
        arg=before,
        polling="raf",
        timeout=120_000,
    )
    return float(page.evaluate("() => performance.now() - window.editedAt"))


def main() -> None:
    """Print the medians, and whether the goals were met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, default=GOAL_SIZE[0])
    parser.add_argument("--members", type=int, default=GOAL_SIZE[1])
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    if find_chromium() is None:
        raise SystemExit("Chromium is not installed")
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as where:
        address, link, valkey, web = where
        with redis.Redis(port=valkey.port) as client:
            document = make_document(given.queues, given.members)
            client.set(group_key(CLUSTER, GROUP), orjson.dumps(document))
        with chromium() as browser:
            page = signed_in(browser, link)
            url = f"{address}/clusters/{CLUSTER}/groups/{GROUP}/whatif/?v=1&s=AVG"
            session = browser.new_browser_cdp_session()
            cold = first_answer(page, url)
            runs = []
            for _ in range(given.repeat):
                used, drawn = process_seconds(web), renderer_seconds(session)
                run = first_answer(page, url)
                run["server_cpu"] = (process_seconds(web) - used) * 1000
                run["page_cpu"] = (renderer_seconds(session) - drawn) * 1000
                runs.append(run)
            edits = [after_edit(page, f"1.{at + 1}") for at in range(given.repeat)]
    middle = {key: median(run[key] for run in runs) for key in runs[0]}
    print(f"{given.queues:,} queues x {given.members:,} members, {given.repeat} runs\n")
    print(f"  server             {middle['server']:8.0f} ms")
    print(f"  page loaded        {middle['loaded']:8.0f} ms")
    print(f"  first answer drawn {middle['drawn']:8.0f} ms")
    print(f"    scripts not loaded before {cold['drawn']:.0f} ms")
    print(f"  after an edit      {median(edits):8.0f} ms")
    print(
        f"  processor time     {middle['server_cpu']:8.0f} ms web process, "
        f"{middle['page_cpu']:.0f} ms page"
    )
    print(f"\n  {middle['bytes'] / 1e6:.1f} MB of page")
    if (given.queues, given.members) == GOAL_SIZE:
        print(SERVER.line(middle["server"]))
        print(DRAWN_BY.line(middle["drawn"]))


if __name__ == "__main__":
    main()
